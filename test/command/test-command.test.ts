import { createServer as createHttpServer, type Server } from 'node:http'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createServer, ToolError, type Running } from 'pierhead'
import { COMMAND, line, type LineOptions, type Outcome } from './line.ts'

let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pierhead-test-'))
})

afterAll(() => rmSync(folder, { recursive: true }))

/** A new folder with files. */
function home(files: Readonly<Record<string, unknown>> = {}): string {
  const cwd = mkdtempSync(join(folder, 'home-'))
  for (const [name, content] of Object.entries(files)) {
    const file = join(cwd, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  }
  return cwd
}

interface Case {
  readonly name: string
  readonly problem?: string
}

interface Report {
  readonly code: number
  readonly stderr: string
  readonly passed: number
  readonly failed: number
  readonly fixtures: number
  readonly generated: number
  readonly unmade: readonly { readonly tool: string; readonly count: number; readonly problem: string }[]
  readonly cases: readonly Case[]
}

async function report(words: readonly string[], options: LineOptions = {}): Promise<Report> {
  const { code, stdout, stderr } = await line(['test', ...words], options)
  return { code, stderr, ...(JSON.parse(stdout === '' ? '{}' : stdout) as object) } as Report
}

function broken(way: string): readonly string[] {
  return ['--', process.execPath, ...COMMAND.slice(0, 2), join(import.meta.dirname, 'broken-server.ts'), way]
}

describe('test --generate', () => {
  it.each(['good', 'official', 'own-error'])('passes a server that is %s [S4-0-2]', async (way) => {
    const { code, cases, stderr } = await report(['--generate', ...broken(way)], { cwd: home() })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(cases.map(({ name, problem }) => [name, problem])).toEqual([
      ['the least that it needs', undefined],
      ['everything that it takes', undefined],
      ['without n', undefined],
      ['n of another type', undefined],
    ])
  })

  const WRONG = 'it did not reject an input that its schema rejects, but failed: '
  const BROKEN = 'the call went wrong, which is no error of the tool itself: '
  it.each([
    ['own-code', `${BROKEN}sold out`, undefined],
    ['masked', `${BROKEN}tool "t" failed (reference a1)`, `${BROKEN}tool "t" failed (reference a1)`],
    ['internal', `${BROKEN}invalid argument`, `${BROKEN}invalid argument`],
    ['vague', undefined, `${WRONG}invalid argument: cannot read undefined`],
    ['accepting', undefined, 'it accepted an input that its schema rejects'],
    ['rejecting', 'it rejected an input that its schema accepts: no', undefined],
    ['no-tool', `${BROKEN}unknown tool t`, `${BROKEN}unknown tool t`],
    ['output', expect.stringContaining('sum: expected number'), undefined],
  ])('fails a server whose calls are %s', async (way, right, wrong) => {
    const { code, cases } = await report(['--generate', ...broken(way)], { cwd: home() })
    expect(code).toBe(8)
    expect(cases.map(({ problem }) => problem)).toEqual([right, right, wrong, wrong])
  })

  it('ends with 4 if the server exits, and with 7 if it does not answer', async () => {
    const exited = await report(['--generate', ...broken('exit')], { cwd: home() })
    expect(exited).toMatchObject({ code: 4, stderr: expect.stringContaining('fix: ') })
    const silent = await report(['--generate', '--timeout', '1s', ...broken('silent')], { cwd: home() })
    expect(silent).toMatchObject({ code: 7, stderr: expect.stringContaining('fix: ') })
  })
})

describe('a server over HTTP whose calls fail', () => {
  let site: Server
  let answer: (id: unknown) => { readonly status: number; readonly body: string }

  beforeAll(async () => {
    const results: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      },
      'tools/list': {
        tools: [{ name: 't', annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } }],
      },
    }
    site = createHttpServer((request, reply) => {
      let text = ''
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      request.on('end', () => {
        const { id, method } = (text === '' ? {} : JSON.parse(text)) as { id?: unknown; method?: string }
        const { status, body } =
          method === 'tools/call'
            ? answer(id)
            : results[method ?? ''] === undefined
              ? { status: method === undefined ? 405 : 202, body: '' }
              : { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id, result: results[method ?? ''] }) }
        if (method === 'server/discover')
          return reply
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }))
        return reply.writeHead(status, { 'content-type': 'application/json' }).end(body)
      })
    })
    await new Promise<void>((done) => site.listen(0, '127.0.0.1', done))
  })

  afterAll(() => site.close())

  function url(): string {
    return `http://127.0.0.1:${(site.address() as AddressInfo).port}/mcp`
  }

  it.each([
    ['HTTP status 500', () => ({ status: 500, body: 'oops' })],
    ['sent more than', (id: unknown) => ({ status: 200, body: large(id) })],
  ])('fails every case: %s', async (text, reply) => {
    answer = reply
    const { code, cases, passed } = await report([url(), '--generate', '--timeout', '20s'], { cwd: home() })
    expect({ code, passed }).toEqual({ code: 8, passed: 0 })
    for (const { problem } of cases) expect(problem).toContain(text)
  })

  it('cannot pass as a fixture that expects an error', async () => {
    answer = () => ({ status: 500, body: 'oops' })
    const cwd = home({
      'fixtures/t.json': [
        { input: {}, error: true },
        { input: {}, error: 'o' },
      ],
    })
    expect(await report([url()], { cwd })).toMatchObject({ code: 8, passed: 0, failed: 2 })
  })

  function large(id: unknown): string {
    const text = 'y'.repeat(30_000_000)
    return JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })
  }
})

describe('fixtures', () => {
  let running: Running
  let url = ''
  let time = 0

  beforeAll(async () => {
    const app = createServer({ name: 'tested', version: '1.0.0' })
    const input = { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] } as const
    app.tool('get', { input, hints: { readOnly: true } }, ({ id }) => {
      if (id === 13) throw new ToolError('there is no 13th floor')
      if (id === 99) throw new Error('a database that nobody should see')
      return { content: [], structuredContent: { id, time: ++time, tags: [{ a: id, b: 1 }] } }
    })
    app.tool('drop', { input }, () => 'gone')
    running = await app.listen({ http: { port: 0 } })
    url = running.url ?? ''
  })

  afterAll(() => running.close())

  it('that expect an error do not match one that was masked', async () => {
    const cwd = home({
      'fixtures/get.json': [
        { input: { id: 99 }, error: 'a' },
        { input: { id: 99 }, error: true },
        { input: { id: 13 }, error: '13th' },
        { input: { id: 'x' }, error: true },
      ],
    })
    const { code, cases } = await report([url], { cwd })
    expect(code).toBe(8)
    expect(cases.map(({ problem }) => problem === undefined)).toEqual([false, false, true, true])
  })

  it('are counted apart from generated cases', async () => {
    const cwd = home({ 'fixtures/get.json': [{ input: { id: 1 }, output: { id: 1 } }] })
    expect(await report([url, '--generate'], { cwd })).toMatchObject({ fixtures: 1, generated: 4, passed: 5 })
    const { stdout } = await line(['test', url, '--generate'], { cwd, terminal: true })
    expect(stdout).toContain('5 passed, 0 failed (1 fixture, 4 generated cases)')
    expect(stdout).toContain('not called, because they may change things: drop (--all includes them)')
  })

  it.each([
    [['gte'], 'there is no tool "gte"; did you mean "get"?'],
    [['gte', '--update'], 'there is no tool "gte"; did you mean "get"?'],
    [['--fixtures', 'missing'], 'there is no folder missing'],
    [['drop', '--generate'], 'there is nothing to test: no tool says that it is read-only'],
    [['--update'], 'there is nothing to test'],
    [[], 'there is nothing to test'],
  ])('rejects %j and says what to do', async (words, text) => {
    const { code, stderr } = await report([url, ...words], { cwd: home() })
    expect(code).toBe(2)
    expect(stderr).toContain(text)
    expect(stderr).toContain('fix: ')
  })

  it('of the project are used in its subfolders', async () => {
    const cwd = home({
      'package.json': { name: 'x', type: 'module', pierhead: { server: 'server.ts' } },
      'server.ts': '',
      'fixtures/get.json': [{ input: { id: 1 }, output: { id: 1 } }],
      'deep/er/x.txt': '',
    })
    expect(await report([url], { cwd: join(cwd, 'deep/er') })).toMatchObject({ code: 0, passed: 1 })
    mkdirSync(join(cwd, 'deep/fixtures'))
    writeFileSync(join(cwd, 'deep/fixtures/get.json'), '[{"input":{"id":1},"output":{"id":2}}]')
    expect(await report([url], { cwd: join(cwd, 'deep') })).toMatchObject({ code: 8, failed: 1 })
  })

  describe('with --update', () => {
    async function updated(text: string, tool = 'get'): Promise<Outcome & { readonly text: string }> {
      const cwd = home({ [`fixtures/${tool}.json`]: text })
      const outcome = await line(['test', url, '--update'], { cwd, terminal: true })
      return { ...outcome, text: readFileSync(join(cwd, `fixtures/${tool}.json`), 'utf8') }
    }

    it.each([
      '[{"input":{"id":1},   "output":{"id":1}}]',
      '[\n\t{ "input": { "id": 13 }, "error": true },\n\t{ "input": { "id": 13 }, "error": "floor", "why": "luck" }\n]\n',
    ])('leaves what passes as it is: %j', async (before) => {
      const { code, text, stdout } = await updated(before)
      expect({ code, text }).toEqual({ code: 0, text: before })
      expect(stdout).toMatch(/^Updated 0 of \d fixtures?\.\n$/)
    })

    it.each([
      [
        '[\n  { "input": { "id": 1 }, "output": { "id": 1 } },\n  { "why": [1,2], "input": { "id": 2 }, "output": { "id": 7 } }\n]',
        '[\n  { "input": { "id": 1 }, "output": { "id": 1 } },\n  { "why": [1,2], "input": { "id": 2 }, "output": { "id": 2 } }\n]',
      ],
      [
        '[\n    {\n        "input": { "id": 2 },\n        "output": {\n            "id": 1,\n            "tags": [{ "a": 1 }],\n            "gone": 1\n        }\n    }\n]\n',
        '[\n    {\n        "input": { "id": 2 },\n        "output": {\n            "id": 2,\n            "tags": [\n                {\n                    "a": 2\n                }\n            ]\n        }\n    }\n]\n',
      ],
      [
        '[{ "input": { "id": 13 }, "error": "14th" }]',
        '[{ "input": { "id": 13 }, "error": "there is no 13th floor" }]',
      ],
      ['[{ "input": { "id": 13 } }]', '[{ "input": { "id": 13 }, "error": "there is no 13th floor" }]'],
    ])('replaces only what was named and differs: %j', async (before, after) => {
      const { code, text, stdout } = await updated(before)
      expect({ code, text }).toEqual({ code: 0, text: after })
      expect(stdout).toContain('Updated 1 of ')
      expect(stdout).toContain('in fixtures/get.json.')
    })

    it('fills in what a new fixture lacks', async () => {
      const { text } = await updated('[\n  {\n    "input": { "id": 5 }\n  }\n]\n')
      expect(JSON.parse(text)).toMatchObject([
        { input: { id: 5 }, output: { id: 5, tags: [{ a: 5, b: 1 }] } },
      ])
    })

    it.each([
      ['[{"input":{"id":13},"output":{"id":13}}]', 'get', 'it failed: there is no 13th floor'],
      ['[{"input":{"id":99},"error":"a"}]', 'get', 'the call went wrong'],
      ['[{"input":{"id":1},"error":true}]', 'get', 'instead of an error'],
      ['[{"input":{},"output":1}]', 'gone', 'the server has no such tool'],
    ])('reports what became something else, and does not write it: %s', async (before, tool, problem) => {
      const { code, text, stdout } = await updated(before, tool)
      expect({ code, text }).toEqual({ code: 8, text: before })
      expect(stdout).toContain(problem)
      expect(stdout).toContain('Updated 0 of 1 fixture.')
      expect(stdout).toContain('Change them by hand')
    })
  })
})

describe('tools whose inputs cannot be made', () => {
  it('are named, with the reason', async () => {
    const app = createServer({ name: 'tested', version: '1.0.0' })
    const input = {
      type: 'object',
      properties: { key: { type: 'string', format: 'of-this-house' } },
      required: ['key'],
    } as const
    app.tool('secret', { input, hints: { readOnly: true } }, () => 'ok')
    app.tool('open', { hints: { readOnly: true } }, () => 'ok')
    const running = await app.listen({ http: { port: 0 } })
    onTestFinished(() => running.close())
    const url = running.url ?? ''
    const { code, unmade } = await report([url, '--generate'], { cwd: home() })
    expect({ code, unmade }).toMatchObject({ code: 0, unmade: [{ tool: 'secret', count: 2 }] })
    const { stdout } = await line(['test', url, '--generate'], { cwd: home(), terminal: true })
    expect(stdout).toContain('not made for secret: 2 inputs: none was found that fits')
    const alone = await report([url, 'secret', '--generate'], { cwd: home() })
    expect(alone.code).toBe(2)
    expect(alone.stderr).toContain('there is nothing to test: no inputs can be made for secret')
  })
})
