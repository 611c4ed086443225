import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { COMMAND, line } from './line.ts'

function home(tool: string, fixtures: readonly object[]): string {
  const cwd = mkdtempSync(join(tmpdir(), 'pierhead-fixtures-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  mkdirSync(join(cwd, 'fixtures'))
  writeFileSync(join(cwd, 'fixtures', `${tool}.json`), JSON.stringify(fixtures))
  return cwd
}

function server(name: string): readonly string[] {
  return ['--', process.execPath, ...COMMAND.slice(0, 3), join(import.meta.dirname, name)]
}

interface Tried {
  readonly problem?: string
  readonly cause?: readonly string[]
}

async function casesOf(cwd: string, program: string, ...words: readonly string[]): Promise<readonly Tried[]> {
  const { stdout } = await line(['test', ...words, ...server(program)], { cwd })
  return (JSON.parse(stdout) as { readonly cases: readonly Tried[] }).cases
}

async function problems(cwd: string): Promise<readonly (string | undefined)[]> {
  return (await casesOf(cwd, 'asking-server.ts')).map(({ problem }) => problem)
}

describe('fixtures for tools that ask', () => {
  it('answer their questions by field, accept or decline them', async () => {
    const cwd = home('order', [
      { input: {}, answers: { count: 2, colour: 'red' }, output: 'ordered {"count":2,"colour":"red"}' },
      { input: {}, answers: 'decline', output: 'decline' },
      { input: {}, answers: { count: 1, colour: 'blue' }, output: 'ordered {"count":1,"colour":"blue"}' },
    ])
    expect(await problems(cwd)).toEqual([undefined, undefined, undefined])
  })

  it('fail if they have no answer, or a wrong one', async () => {
    const cwd = home('order', [
      { input: {}, answers: { count: 2 }, error: true },
      { input: {}, output: 'cancel' },
      { input: {}, answers: { count: 0, colour: 'red' }, output: 'cancel' },
    ])
    expect(await problems(cwd)).toEqual([
      expect.stringContaining('no answer for colour: What do you want?'),
      expect.stringContaining('no answers: What do you want?'),
      expect.stringMatching(/the answer for count .*1/),
    ])
  })

  it('must have answers of a known form', async () => {
    const cwd = home('order', [{ input: {}, answers: ['red'] }])
    const { code, stderr } = await line(['test', ...server('asking-server.ts')], { cwd })
    expect(code).toBe(2)
    expect(stderr).toContain('the answers of fixture 1 are neither an object')
  })

  it('keep their answers when they are updated', async () => {
    const cwd = home('order', [{ input: {}, answers: { count: 2, colour: 'red' }, output: 'other' }])
    await line(['test', '--update', ...server('asking-server.ts')], { cwd })
    expect(JSON.parse(readFileSync(join(cwd, 'fixtures/order.json'), 'utf8'))).toEqual([
      { input: {}, answers: { count: 2, colour: 'red' }, output: 'ordered {"count":2,"colour":"red"}' },
    ])
  })
})

describe('a tool that fails in a way that its clients are not told', () => {
  it.each([[], ['--generate']])(
    'is reported with the error of the program and its place: %j',
    async (...flags) => {
      const cwd = home('sink', [{ input: {}, output: 'sunk' }])
      const [first, ...others] = await casesOf(cwd, 'failing-server.ts', ...flags)
      for (const { problem, cause } of [first!, ...others.slice(0, 1)]) {
        expect(problem).toContain('(reference ')
        expect(cause?.join('\n')).toMatch(/no water[^]*failing-server\.ts:\d+/)
      }
      const text = await line(['test', ...flags, ...server('failing-server.ts')], { cwd, terminal: true })
      expect(text.stdout).toMatch(/✗ sink[^]*no water[^]*failing-server\.ts:\d+/)
    },
  )
})

describe('a tool whose tasks have keys and a store', () => {
  it('begins with an empty store in memory, and leaves that of the developer alone', async () => {
    const cwd = home('work', [{ input: {}, output: 'first' }])
    const file = join(cwd, 'work.db')
    const test = (...words: readonly string[]): Promise<{ readonly code: number }> =>
      line(['test', '--env', `FILE=${file}`, ...words, ...server('failing-server.ts')], { cwd })
    expect((await test('--env', 'PIERHEAD_STORE=')).code).toBe(0)
    expect((await test('--env', 'PIERHEAD_STORE=', '--env', 'RESULT=second')).code).toBe(0)
    expect((await test()).code).toBe(0)
    expect((await test('--env', 'RESULT=second')).code).toBe(8)
  })
})
