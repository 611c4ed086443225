import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { createServer } from 'pierhead'
import type { FormAnswer } from 'pierhead/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { runCli } from '../../src/cli/cli.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { textProblem, valueProblem } from '../../src/cli/form-field.ts'
import type { Io } from '../../src/cli/io.ts'
import { line, type Outcome } from './line.ts'
import { screen } from './screen.ts'

const ASKING = join(import.meta.dirname, 'asking-server.ts')
const PROGRAM = ['--', process.execPath, '--import', 'tsx', '--conditions=pierhead-source', ASKING]

/** Calls the tool that asks how many of which colour. */
function order(...more: string[]): Promise<Outcome> {
  return line(['call', 'order', ...more, ...PROGRAM])
}

describe('a question where nobody can be asked', () => {
  it('says so, and how to answer, in terms of the command line', async () => {
    const { code, stderr } = await order()
    expect(stderr).toContain('the server asks a question, and nobody can be asked here')
    expect(stderr).toContain('fix: Run it on a terminal, or answer with --answer name=value.')
    expect(stderr).not.toContain('connect()')
    expect(code).toBe(6)
  })

  it.each([
    [['count=2', 'colour=red'], 'ordered {"count":2,"colour":"red"}'],
    [['decline'], 'decline'],
  ])('is answered by --answer %j', async (answers, text) => {
    for (const revision of ['2026-07-28', '2025-11-25']) {
      const options = answers.flatMap((one) => ['--answer', one])
      const { code, stdout, stderr } = await order(...options, '--revision', revision)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(JSON.parse(stdout).content[0].text).toBe(text)
    }
  })

  it.each([
    [['count=2'], 'What do you want? (colour)'],
    [['count=0', 'colour=red'], '--answer count: The least is 1.'],
    [['count=many', 'colour=red'], 'count must be integer'],
    [['maybe'], '"maybe" is not an answer'],
  ])('is not answered by --answer %j', async (answers, text) => {
    for (const revision of ['2026-07-28', '2025-11-25']) {
      const options = answers.flatMap((one) => ['--answer', one])
      const { code, stderr } = await order(...options, '--revision', revision)
      expect(stderr).toContain(text)
      expect(stderr).toContain('fix: ')
      expect(code).toBe(2)
    }
  })

  it('without fields needs --answer accept', async () => {
    const app = createServer({ name: 'agree', version: '1.0.0', log: () => undefined })
    const schema = { type: 'object', properties: {} } as const
    app.tool('go', {}, async (_, ctx) => (await ctx.elicit('Really?', schema)).action)
    const { url = '' } = await app.listen({ http: { port: 0 } })
    onTestFinished(() => app.close())
    const unclear = await line(['call', url, 'go', '--answer', 'a=b'])
    expect(unclear).toMatchObject({ code: 2, stderr: expect.stringContaining('--answer accept') })
    expect((await line(['call', url, 'go', '--answer', 'accept'])).stdout).toContain('"accept"')
  })
})

const [ENTER, ESC, DOWN, SPACE] = ['\r', '\u001b', '\u001b[B', ' ']

/** Answers a form with one field by pressing keys, each after the screen shows something. */
async function answered(
  field: object,
  keys: readonly (readonly [shown: string, press: string])[],
  required: readonly string[] = [],
): Promise<FormAnswer | undefined> {
  const { answers, text, press, signal } = screen()
  const schema = { type: 'object', properties: { field }, required }
  const answer = answers.elicit?.({ message: 'Hello', schema }, signal)
  for (const [shown, key] of [['Will you answer?', 'y'] as const, ...keys]) {
    await vi.waitFor(() => expect(text()).toContain(shown), { timeout: 20_000 })
    press(key)
  }
  return answer
}

describe('a given value', () => {
  it.each([
    ['pdf', { enum: ['html', 'pdf'] }, undefined],
    ['pfd', { type: 'string', enum: ['html', 'pdf'] }, 'It must be one of html, pdf.'],
    ['b', { oneOf: [{ const: 'a', title: 'A' }] }, 'It must be one of a.'],
    [['a', 'c'], { type: 'array', items: { enum: ['a', 'b'] } }, 'It must be some of a, b.'],
    [['a', 'b'], { type: 'array', items: { anyOf: [{ const: 'a' }, { const: 'b' }] } }, undefined],
    ['maybe', { type: 'boolean' }, 'It must be true or false.'],
    [['a'], { type: 'array', minItems: 2, items: { enum: ['a', 'b'] } }, 'Please choose at least 2.'],
  ])('%j for %j: %s', (value, field, problem) => {
    expect(valueProblem(value, field)).toBe(problem)
  })

  it('that is not among the choices is not sent', async () => {
    const app = createServer({ name: 'formats', version: '1.0.0', log: () => undefined })
    const properties = { format: { type: 'string', enum: ['html', 'pdf'] } } as const
    const asked = vi.fn<(action: string) => void>()
    app.tool('export', {}, async (_, ctx) => {
      asked((await ctx.elicit('Which?', { type: 'object', properties, required: ['format'] })).action)
      return 'done'
    })
    const { url = '' } = await app.listen({ http: { port: 0 } })
    onTestFinished(() => app.close())
    const { code, stderr } = await line(['call', url, 'export', '--answer', 'format=pfd'])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'error: --answer format: It must be one of html, pdf.\nfix: Write --answer format=html, or --answer decline.\n',
    })
    expect(asked).not.toHaveBeenCalled()
  })
})

describe('an answer at the terminal', () => {
  it('is asked for in whole lines where the terminal reports no columns, also after its size changed', async () => {
    const app = createServer({ name: 'form', version: '1.0.0', log: () => undefined })
    const question = 'How many of the yellow ones do you want?'
    app.tool('ask', {}, async (_, ctx) => {
      const schema = { type: 'object', properties: { count: { type: 'integer' } } } as const
      return (await ctx.elicit(question, schema)).action
    })
    const { url = '' } = await app.listen({ http: { port: 0 } })
    onTestFinished(() => app.close())
    const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined })
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 0, rows: 0 })
    let text = ''
    stderr.setEncoding('utf8').on('data', (more: string) => (text += more))
    const { signal } = new AbortController()
    const io: Io = { stdin, stdout: stderr, stderr, env: { NO_COLOR: '1' }, cwd: '/', signal }
    const ended = runCli(['call', url, 'ask'], io, COMMANDS)
    await vi.waitFor(() => expect(text).toContain('Will you answer?'), { timeout: 20_000 })
    expect(text).toContain(question)
    stderr.columns = 0
    stderr.emit('resize')
    expect(stderr.columns).toBe(80)
    stdin.write('n')
    expect(await ended).toBe(0)
  })

  it.each([
    [{ type: 'string', minLength: 3 }, 'ab', 'abc'],
    [{ type: 'string', maxLength: 2 }, '\u{1f600}\u{1f600}\u{1f600}', '\u{1f600}\u{1f600}'],
    [{ type: 'string', format: 'email' }, 'ada', 'ada@example.com'],
    [{ type: 'string', format: 'uri' }, 'example', 'https://example.com'],
    [{ type: 'string', format: 'date' }, '2026-02-30', '2026-02-28'],
    [{ type: 'string', format: 'date-time' }, '2026-02-28 noon', '2026-02-28T12:00:00+01:00'],
    [{ type: 'string', format: 'date-time' }, '2026-02-28T12:00:00', '2026-02-28T12:00:00Z'],
    [{ type: 'integer', maximum: 3 }, '4', '3'],
  ])('to %j is not %s, but may be %s', (field, wrong, right) => {
    expect(textProblem(wrong, field, false)).toMatch(/^Please type|^The most/)
    expect(textProblem(right, field, false)).toBeUndefined()
  })

  it('has as many choices as the server wants', async () => {
    const items = { type: 'string', enum: ['red', 'blue', 'green'] }
    const answer = await answered({ type: 'array', title: 'Colours', items, minItems: 2 }, [
      ['green', `${SPACE}${ENTER}`],
      ['Please choose at least 2.', `${SPACE}${DOWN}${SPACE}${ENTER}`],
    ])
    expect(answer).toEqual({ action: 'accept', content: { field: ['red', 'blue'] } })
  })

  it('does not begin with values that are no choices', async () => {
    const items = { type: 'string', enum: ['red', 'blue'] }
    const field = { type: 'array', title: 'Colours', items, default: ['hidden', 'blue', { toString: 1 }] }
    const some = await answered(field, [['blue', ENTER]])
    expect(some).toEqual({ action: 'accept', content: { field: ['blue'] } })
    const one = { type: 'string', title: 'Colour', enum: ['red', 'blue'], default: 'hidden' }
    expect(await answered(one, [['blue', ENTER]], ['field'])).toEqual({
      action: 'accept',
      content: { field: 'red' },
    })
  })

  it.each([
    [ENTER, {}],
    [`${DOWN}${ENTER}`, { field: true }],
    [`${DOWN}${DOWN}${ENTER}`, { field: false }],
  ])('may be left out for a yes or no that is optional: %j', async (keys, content) => {
    const answer = await answered({ type: 'boolean', title: 'Loud' }, [['no answer', keys]])
    expect(answer).toEqual({ action: 'accept', content })
  })

  it.each([
    ['y', { action: 'accept', content: { field: true } }],
    [ESC, { action: 'cancel' }],
  ])('is asked for if it is required; Esc closes the form: %j', async (key, expected) => {
    expect(await answered({ type: 'boolean', title: 'Loud' }, [['Loud', key]], ['field'])).toEqual(expected)
  })

  it.each([
    ['n', 'decline'],
    [ESC, 'cancel'],
  ])('is not given with %j', async (key, action) => {
    const { answers, text, press, signal } = screen()
    const page = answers.elicitUrl?.({ message: 'Hello', url: 'https://example.com/' }, signal)
    await vi.waitFor(() => expect(text()).toContain('Will you open it?'), { timeout: 20_000 })
    press(key)
    expect(await page).toEqual({ action })
  })
})
