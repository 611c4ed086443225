import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMAND, type LineOptions, type Outcome } from './line.ts'

/**
 * Writes a server over stdio that needs nothing but Node, and returns its path. Its tool `show` answers with its own arguments,
 * folder and environment, and with the arguments of the call. `more` runs when it starts.
 */
export function plainServer(folder: string, more = ''): string {
  const file = join(folder, 'plain-server.mjs')
  writeFileSync(file, `#!${process.execPath}\n${more}\n${SERVER}`, { mode: 0o755 })
  return file
}

const SERVER = `
import { createInterface } from 'node:readline'
const about = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'plain', version: '1' } }
const properties = { text: { type: 'string' } }
const tools = [{ name: 'show', inputSchema: { type: 'object', properties } }]
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const show = () => {
    const text = JSON.stringify({ argv: process.argv.slice(2), cwd: process.cwd(), env: process.env, given: params.arguments })
    return { content: [{ type: 'text', text }] }
  }
  const results = { initialize: () => about, ping: () => ({}), 'tools/list': () => ({ tools }), 'tools/call': show }
  const found = results[method]
  const answer = found === undefined ? { error: { code: -32601, message: 'no' } } : { result: found() }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
})
`

/** What the tool `show` said. */
export interface Shown {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly given: Readonly<Record<string, unknown>>
}

export function shownIn({ stdout }: Outcome): Shown {
  const { content } = JSON.parse(stdout) as { content: { text: string }[] }
  return JSON.parse(content[0]?.text ?? '{}') as Shown
}

/** How a command ended, and the most memory that it needed, in bytes. */
export interface Measured extends Outcome {
  readonly memory: number
}

/** Makes a process write the most memory that it needed into its fourth stream. */
const MEMORY = `data:text/javascript,${encodeURIComponent(
  `import { writeSync } from 'node:fs'; process.on('exit', () => writeSync(3, String(process.resourceUsage().maxRSS * 1024)))`,
)}`

/** Runs a command line in a process of its own, and measures its memory. Of long outputs, only the beginning is kept. */
export function measuredLine(args: readonly string[], options: LineOptions = {}): Promise<Measured> {
  const child = spawn(process.execPath, ['--import', MEMORY, ...COMMAND, ...args], {
    cwd: options.cwd ?? process.cwd(),
    env: { ...process.env, NO_COLOR: '1', ...options.env },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  let [stdout, stderr, memory] = ['', '', 0]
  child.stdout
    ?.setEncoding('utf8')
    .on('data', (text: string) => (stdout = (stdout + text).slice(0, 1_000_000)))
  child.stderr
    ?.setEncoding('utf8')
    .on('data', (text: string) => (stderr = (stderr + text).slice(0, 1_000_000)))
  child.stdio[3]?.on('data', (bytes: Buffer) => (memory = Number(bytes)))
  child.stdin?.end(options.stdin ?? '')
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr, memory }))
  })
}
