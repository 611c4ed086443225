import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createServer, type Running } from 'pierhead'
import { devAuth } from 'pierhead/auth/dev'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { build, isStale } from '../../tools/build.ts'
import { progressLine } from '../../src/cli/progress-line.ts'
import { Output } from '../../src/cli/output.ts'
import { widthOf } from '../../src/cli/text-width.ts'
import { line, spawnLine, type LineOptions } from './line.ts'

let folder = ''
let running: Running

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pierhead-hour-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(resolve('.'), join(folder, 'node_modules/pierhead'))
  symlinkSync(resolve('node_modules/esbuild'), join(folder, 'node_modules/esbuild'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const app = createServer({ name: 'hour', version: '1.0.0' })
  const input = {
    type: 'object',
    properties: { a: { type: 'number' }, on: { type: 'boolean' } },
    additionalProperties: false,
  } as const
  app.tool('add', { input }, (given) => JSON.stringify(given))
  app.prompt(
    'review',
    { args: { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] } as const },
    ({ topic }) => `Review ${topic}.`,
  )
  running = await app.listen({ http: { port: 0 } })
})

afterAll(async () => {
  await running.close()
  rmSync(folder, { recursive: true })
})

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return name
}

const FAILING = `import { createServer } from 'pierhead'
interface One {
  readonly a: number
}
interface Two {
  readonly b: One
}
const app = createServer({ name: 'failing', version: '1.0.0' })
app.tool('fail', {}, () => {
  const two: Two = { b: { a: 1 } }
  throw new Error('the disk ' + two.b.a + ' is full')
})
export default app
`

describe('a stack trace', () => {
  it('has the lines of the source, whatever turned it into JavaScript', { timeout: 300_000 }, async () => {
    if (isStale()) await build()
    file('failing.ts', FAILING)
    const command = [resolve('dist/cli/main.js'), 'call', 'failing.ts', 'fail', '--no-json']
    const { stderr, status } = spawnSync(process.execPath, command, { cwd: folder, encoding: 'utf8' })
    expect(status).toBe(5)
    expect(stderr).toContain('Error: the disk 1 is full')
    expect(stderr).toMatch(/failing\.ts:11:\d+/)
    file(
      'unit.ts',
      `import app from './failing.ts'\ninterface A {\n  a: 1\n}\nvoid app\nconsole.log(new Error('x').stack)\n`,
    )
    const { stdout } = spawnSync(process.execPath, ['--import', 'pierhead/typescript', 'unit.ts'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(stdout).toMatch(/unit\.ts:6:\d+/)
  })
})

describe('a file that does not start', () => {
  it.each([
    ["throw new Error('no database')", /^error: bad\.ts did not start: no database\n {2}at bad\.ts:1:7\n$/],
    [
      'export const a = 1',
      /^error: bad\.ts did not start: .*neither exports[^]*\nfix: End it with: export default app\n$/,
    ],
    ['process.exit(3)', /^error: bad\.ts did not start: it ended with code 3\nfix: /],
    [
      `throw new Error(Array.from({ length: 50 }, (_, i) => 'line ' + i).join('\\n'))`,
      /did not start: line 0\nline 1\n[^]*line 19\n… 30 more lines\n {2}at bad\.ts:1:7\n$/,
    ],
  ])('says only what is wrong with it: %s', async (text, expected) => {
    const { code, stderr } = await spawnLine(['list', file('bad.ts', text), '--no-json'], { cwd: folder })
    expect(code).toBe(4)
    expect(stderr).toMatch(expected)
  })
})

describe('prompt', () => {
  it.each([
    [['topc=x'], 'the prompt has no argument "topc"; did you mean "topic"?'],
    [[], '"topic" is missing'],
  ])('checks its arguments: %j', async (args, text) => {
    const { code, stderr } = await line(['prompt', running.url ?? '', 'review', ...args])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(text) })
    expect(stderr).toContain('The prompt is review(topic).')
  })

  it('suggests a name', async () => {
    const { code, stderr } = await line(['prompt', running.url ?? '', 'reviwe', 'topic=x'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('did you mean "review"?') })
  })
})

describe('arguments of a call', () => {
  it.each([
    ['on=1', true],
    ['on=off', false],
  ])('know more words for a boolean: %s', async (word, on) => {
    const { stdout } = await line(['call', running.url ?? '', 'add', word])
    expect(JSON.parse(JSON.parse(stdout).content[0].text)).toEqual({ on })
  })

  it('are not confused with others of one letter', async () => {
    const { code, stderr } = await line(['call', running.url ?? '', 'add', 'c=3'])
    expect(code).toBe(2)
    expect(stderr).not.toContain('did you mean')
  })
})

describe('the progress line', () => {
  it.each([20, 40, 80])('fits a terminal of %i columns, also with wide characters', (columns) => {
    let text = ''
    const stream = { isTTY: true, columns, write: (part: string) => ((text += part), true) }
    const io = {
      stdin: process.stdin,
      stdout: stream,
      stderr: stream,
      env: {},
      cwd: '.',
      signal: new AbortController().signal,
    }
    const show = progressLine(new Output(io), io)
    for (const message of [
      'a long message '.repeat(20),
      '進捗を表示しています '.repeat(20),
      '🚢'.repeat(100),
    ]) {
      text = ''
      show?.({ progress: 1, total: 2, message })
      const [, shown = ''] = text.split('\u001b[2K')
      expect(widthOf(shown)).toBeLessThan(columns)
      expect(shown).toContain('50 %')
    }
  })
})

describe('a missing scope', () => {
  it('has a fix that works', { timeout: 60_000 }, async () => {
    const home = mkdtempSync(join(tmpdir(), 'pierhead-scope-'))
    const dev = await devAuth({ port: 0, scopes: ['notes:read'] })
    const app = createServer({ name: 'notes', version: '1.0.0', auth: dev, log: () => undefined })
    app.tool('erase', { scopes: ['notes:write'] }, () => 'gone')
    const { url = '' } = await app.listen({ http: { port: 0 } })
    onTestFinished(async () => {
      await app.close()
      await dev.close()
      rmSync(home, { recursive: true, force: true })
    })
    const env = { HOME: home, USERPROFILE: home }
    const openPage: LineOptions['openPage'] = async (page) => {
      await fetch(await dev.login(page, { sub: 'alice' }))
    }
    const person = { terminal: true, env, openPage }
    expect((await line(['auth', 'login', url], person)).code).toBe(0)
    const refused = await line(['call', url, 'erase'], { env })
    expect(refused.code).toBe(3)
    const [, fix = ''] = /pierhead (auth login \S+ --scope notes:write)$/m.exec(refused.stderr) ?? []
    expect((await line(fix.split(' '), person)).code).toBe(0)
    expect((await line(['call', url, 'erase'], { env })).stdout).toContain('gone')
    const token = await dev.token({ sub: 'bob', scopes: ['notes:read'] })
    const other = await line(['call', url, 'erase'], { env: { ...env, PIERHEAD_TOKEN: token } })
    expect({ code: other.code, stderr: other.stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('--scope notes:write'),
    })
  })
})

describe('keys show', () => {
  it('does not take a missing list for a pair', async () => {
    const { stderr } = await line(['keys', 'show', 'allowed.json'], { cwd: folder })
    expect(stderr).toContain('pierhead keys allow allowed.json')
    expect(stderr).not.toContain('keys create')
  })
})
