import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as listen, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createServer } from '../../src/index.ts'
import { RunProgress } from '../../src/cli/validate-text.ts'
import type { Report } from '../../src/validate/result.ts'
import { faultyDoor, serveEverywhere, type Served } from '../validate/faulty-door.ts'
import { createFixture } from '../validate/fixture.ts'
import { inTool } from '../validate/tool-schemas.ts'
import { line } from './line.ts'

let served: Served
let url = ''
let cwd = ''
const called: string[] = []

beforeAll(async () => {
  const app = createFixture()
  served = await serveEverywhere(app)
  url = String(served.addresses.http)
  cwd = mkdtempSync(join(tmpdir(), 'pierhead-validate-'))
  writeFileSync(join(cwd, 'broken.mjs'), 'throw new Error("no database")')
  writeFileSync(
    join(cwd, 'advice.mjs'),
    'console.error("error: there is no database\\nfix: start it with db start"); process.exitCode = 1',
  )
  writeFileSync(join(cwd, 'slow.mjs'), 'setInterval(() => undefined, 1000)')
})

afterAll(async () => {
  rmSync(cwd, { recursive: true })
  await served.close()
})

afterEach(() => vi.useRealTimers())

/** A server that only answers greetings, so most rules wait. */
async function startGreeter(): Promise<Server> {
  const serverInfo = { name: 'x', version: '1' }
  const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo }
  const server = listen((socket) => {
    socket.on('error', () => undefined)
    createInterface({ input: socket }).on('line', (text) => {
      const { id, method } = JSON.parse(text) as { readonly id?: number; readonly method?: string }
      if (method === 'initialize') socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

test('a run whose time is over reports what was checked, says so at the end, and ends with 7', async () => {
  const greets = await startGreeter()
  onTestFinished(() => void greets.close())
  const { port } = greets.address() as AddressInfo
  const program = [`tcp://127.0.0.1:${port}`, '--total', '2s', '--target', '2025-11']
  const text = await line(['validate', '--no-json', ...program], { cwd })
  expect(text.stderr).toBe('')
  expect(text.stdout.trimEnd().split('\n').at(-1)).toMatch(/^incomplete: .*--total 5m.*--target/)
  const { stdout } = await line(['validate', '--format', 'github', ...program], { cwd })
  expect(stdout).toMatch(/^::warning title=pierhead validate::incomplete: /m)
  const one = await line(['validate', '--rule', 'R003', ...program], { cwd })
  expect(JSON.parse(one.stdout)).toMatchObject({ isComplete: false, counts: { unchecked: 1 } })
  expect(one.code).toBe(7)
})

test('a program that does not answer in the time of the run ends with 7, and with a document', async () => {
  const { code, stdout } = await line(
    ['validate', '--total', '500ms', '--format', 'junit', '--', process.execPath, 'slow.mjs'],
    { cwd },
  )
  expect(code).toBe(7)
  expect(stdout).toContain('<error message="')
})

test.each([
  ['json', /^\{\n  "target"[\s\S]*"problem": [\s\S]*"outcomes": \[\]\n\}\n$/],
  ['junit', /^<\?xml[\s\S]*<error [\s\S]*<\/testsuites>\n$/],
  ['sarif', /^\{\n  "version": "2\.1\.0"[\s\S]*\n\}\n$/],
  ['github', /^::error title=pierhead validate::.*no database[^\n]*\n$/],
])(
  'a server that does not start is a document of the format %s, a page, and code 4',
  async (format, pattern) => {
    const { code, stdout, stderr } = await line(
      ['validate', '--format', format, '--report', `${format}.html`, '--', process.execPath, 'broken.mjs'],
      { cwd },
    )
    expect(code).toBe(4)
    expect(stdout).toContain('no database')
    expect(stdout).toMatch(pattern)
    expect(stderr).toContain('error: ')
    expect(stderr).not.toContain('pierhead doctor')
    expect(readFileSync(join(cwd, `${format}.html`), 'utf8')).toContain('no database')
  },
)

test('what a program advises is the hint', async () => {
  const { code, stderr } = await line(['validate', '--', process.execPath, 'advice.mjs'], { cwd })
  expect(code).toBe(4)
  expect(stderr).toContain('fix: start it with db start')
  expect(stderr).not.toContain('pierhead doctor')
})

test('a client that does not start gets a hint about its command', async () => {
  const { code, stderr } = await line(
    ['validate', '--client', '--target', '2025-11', '--', process.execPath, 'nosuch.mjs'],
    { cwd },
  )
  expect(code).toBe(4)
  expect(stderr).toContain('correct the command after --')
}, 30_000)

test('tools that say that they are destructive are called only with --all', async () => {
  const app = createServer({ name: 'danger', version: '1.0.0' })
  const input = { type: 'object', properties: {} } as const
  for (const [name, destructive] of [
    ['erase', true],
    ['add', false],
  ] as const)
    app.tool(name, { description: `The tool ${name}.`, input, hints: { destructive } }, () => {
      called.push(name)
      return 'done'
    })
  const own = await serveEverywhere(app)
  const args = ['validate', String(own.addresses.http), '--target', '2025-11', '--allow-calls']
  try {
    await line(args, { cwd })
    expect(new Set(called)).toEqual(new Set(['add']))
    await line([...args, '--all'], { cwd })
    expect(new Set(called)).toEqual(new Set(['add', 'erase']))
  } finally {
    await own.close()
  }
}, 60_000)

test('--ignore lists a known failure, which does not count', async () => {
  const message = inTool('echo')((tool) => ({ ...tool, inputSchema: { type: 'object', required: 'text' } }))
  const { door, close } = await faultyDoor(served, 'http', { rule: 'V010', does: 'is wrong', message })
  const args = ['validate', String(door.url), '--target', '2025-11', '--rule', 'V010', '--ignore', 'V010']
  try {
    const { code, stdout } = await line(args, { cwd })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      counts: { failures: 0, ignored: 1 },
      outcomes: [{ id: 'V010', is: 'failed', isIgnored: true }],
    })
    const text = await line([...args, '--no-json'], { cwd })
    expect(text.stdout).toContain('- ignored: V010 tool "echo"')
    expect(text.stdout).toContain('1 ignored')
    const { stderr } = await line([...args, '--ignore', 'R999'], { cwd })
    expect(stderr).toContain('--ignore R999 does nothing')
  } finally {
    await close()
  }
})

test('places have the revisions that were checked', async () => {
  const { stdout } = await line(['validate', url, '--target', '2025-11', '--rule', 'V001'], { cwd })
  const { places } = JSON.parse(stdout) as Report
  expect(places.find(({ transport }) => transport === 'http')?.revisions).toEqual(['2025-11-25'])
})

test.each([
  [['validate', '--revision', '2025-11-25'], 'did you mean "--target"?'],
  [['validate', '--all'], '--allow-calls --all'],
  [['validate', '--target', '2025-11', '--rule', 'R999'], 'such as R005 or V010'],
])('%j is a wrong command line with a hint', async ([name = '', ...args], hint) => {
  const { code, stderr } = await line([name, url, ...args], { cwd })
  expect(code).toBe(2)
  expect(stderr).toContain(hint)
})

test('conformance says at once that it needs a later Node', async () => {
  const own = Object.getOwnPropertyDescriptor(process, 'version') ?? {}
  Object.defineProperty(process, 'version', { ...own, value: 'v20.20.2' })
  try {
    const { code, stderr } = await line(
      ['conformance', 'http://127.0.0.1:1/mcp', '--allow-calls', '--report', 'none.html'],
      { cwd },
    )
    expect(stderr).toContain('the official suite needs Node 22 or later; this is v20.20.2')
    expect(code).toBe(1)
    expect(existsSync(join(cwd, 'none.html'))).toBe(false)
  } finally {
    Object.defineProperty(process, 'version', own)
  }
})

test('a long run in a pipe says every 10 s where it is', () => {
  vi.useFakeTimers()
  const notes: string[] = []
  const output = { isWatched: false, status: () => undefined, note: (text: string) => void notes.push(text) }
  {
    using progress = new RunProgress(output)
    progress.at('rule 1 of 9')
    vi.advanceTimersByTime(9_999)
    expect(notes).toEqual([])
    progress.at('rule 5 of 9')
    vi.advanceTimersByTime(1)
    expect(notes).toEqual(['rule 5 of 9'])
  }
  vi.advanceTimersByTime(60_000)
  expect(notes).toHaveLength(1)
})
