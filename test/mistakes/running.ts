import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import type { Mistake } from './mistake.ts'

const PROGRAM = new URL('program.ts', import.meta.url).pathname
const UNAWAITED = new URL('unawaited.ts', import.meta.url).pathname

/** What a program writes to stderr when it runs after some other code and gets some lines. */
async function run(before: string, lines: readonly object[] = [], program = PROGRAM): Promise<string> {
  const first = `data:text/javascript,${encodeURIComponent(before)}`
  const args = ['--import', first, '--import', 'tsx', '--conditions=pierhead-source', program]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'pipe'] })
  child.stdin.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return text(child.stderr)
}

const IN_TERMINAL = `Object.defineProperty(process.stdin, 'isTTY', { value: true })`
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
}
const CALL = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'a' } }

/** Mistakes that only a program of its own shows: its runtime, its terminal, and the log that it has by default. */
export const running: readonly Mistake[] = [
  {
    wrote: 'node server.js with Node 18',
    make: () =>
      run(`Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } })`),
    problem: 'Node 18.20.4 is too old',
    fix: 'use Node 20.19 or newer',
  },
  {
    wrote: 'node server.js with Node 20.10',
    make: () =>
      run(`Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.10.0' } })`),
    problem: 'Node 20.10.0 is too old',
    fix: 'nvm install',
  },
  {
    wrote: 'node server.js in a terminal, for a server on stdio',
    make: () => run(`${IN_TERMINAL}; process.execArgv.length = 0`),
    problem: /^pierhead warning: waiting for MCP messages on stdin/,
    fix: /run: npx @modelcontextprotocol\/inspector node program\.ts; for a URL, write listen\({ http: {} }\)\n$/,
  },
  {
    wrote: 'node --import tsx server.ts in a terminal, for a server on stdio',
    make: () => run(IN_TERMINAL),
    problem: /^pierhead warning: waiting for MCP messages on stdin/,
    fix: /run: npx @modelcontextprotocol\/inspector npx tsx program\.ts; for a URL/,
  },
  {
    wrote: 'a handler that throws, in a program without a log of its own',
    make: () => run('', [INITIALIZE, CALL]),
    problem: /^pierhead error: tool "a" failed {[^}]+}\s+Error: no such order\n/m,
    fix: /^ +at .*program\.ts:5:9/m,
  },
  {
    wrote: 'app.listen(…) without await, at a port that is not valid',
    make: () => run('', [], UNAWAITED),
    problem: /port must be a whole number from 0 to 65535 .*, not 70000/,
    fix: /hint: 'Pass a valid value: /,
  },
]
