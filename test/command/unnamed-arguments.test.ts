import { afterAll, beforeAll, expect, it } from 'vitest'
import { createServer, type Running } from 'pierhead'
import { line } from './line.ts'

let running: Running
const a = { type: 'integer' } as const

beforeAll(async () => {
  const app = createServer({ name: 'sums', version: '1.0.0' })
  const add = (name: string, more: object): void => {
    app.tool(name, { input: { type: 'object', ...more } }, (input) => Object.keys(input as object).join())
  }
  add('silent', { properties: { a, b: a } })
  add('closed', { properties: { a, b: a }, additionalProperties: false })
  add('open', { properties: { a, b: a }, additionalProperties: { type: 'integer' } })
  add('patterned', { properties: { a, b: a }, patternProperties: { '^c': a } })
  add('anything', {})
  add('either', { properties: { a }, anyOf: [{ properties: { c: a } }, { properties: { b: a } }] })
  running = await app.listen({ http: { port: 0 } })
})

afterAll(() => running.close())

const call = (...words: readonly string[]): ReturnType<typeof line> =>
  line(['call', running.url as string, ...words])

it.each([[['a=1', 'b=2', 'c=3']], [['--input', '{"a":1,"c":3}']]])(
  'an argument that the schema does not mention is sent, with a warning: %j',
  async (words) => {
    const { code, stdout, stderr } = await call('silent', ...words)
    expect([code, stdout]).toEqual([0, expect.stringContaining('c')])
    expect(stderr).toBe(
      'warning: the tool does not list "c", and may ignore what it does not know; its arguments are a, b\n',
    )
  },
)

it.each(['open', 'patterned', 'anything', 'either'])(
  'there is no warning if the schema says that there may be others: %s',
  async (name) => {
    const { code, stderr } = await call(name, 'a=1', 'c=3')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  },
)

it('an argument that the schema rules out is rejected', async () => {
  const { code, stderr } = await call('closed', 'a=1', 'c=3')
  expect(code).toBe(2)
  expect(stderr).toContain('the tool has no argument "c"')
})
