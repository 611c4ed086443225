import { expect } from 'vitest'
import { createServer, ToolError } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const SPEC = { type: 'object', properties: { q: { type: 'string' } } } as const

function fail(): never {
  throw new TypeError('cannot read "due" of undefined')
}

function create(errors: 'show' | 'mask' | undefined) {
  const references: string[] = []
  const log: [string, JsonObject][] = []
  const app = createServer({
    name: 'shown',
    version: '1',
    ...(errors !== undefined && { errors }),
    log: (_level, message, facts = {}) => void log.push([message, facts]),
  })
    .tool('sync', {}, (_input, { reference }) => {
      references.push(reference)
      return fail()
    })
    .tool('async', {}, async (_input, { reference }) => {
      references.push(reference)
      return fail()
    })
    .tool('text', {}, () => {
      throw 'just text' as unknown as Error
    })
    .tool('empty', {}, () => {
      throw new Error('')
    })
    .tool('odd', {}, () => {
      throw Object.create(null)
    })
    .tool('purpose', {}, () => {
      throw new ToolError('No such order')
    })
    .tool('output', { output: { type: 'object', required: ['n'] } as const }, () => ({}) as never)
    .resource('fail://now', {}, (_variables, { reference }) => {
      references.push(reference)
      return fail()
    })
    .prompt('fail', { args: SPEC }, (_args, { reference }) => {
      references.push(reference)
      return fail()
    })
    .use('prompts/list', ({ reference }) => {
      references.push(reference)
      return fail()
    })
  return Object.assign(app, { log, references })
}

type Logged = ReturnType<typeof create>

const REQUESTS: readonly [string, JsonObject][] = [
  ['tools/call', { name: 'sync' }],
  ['tools/call', { name: 'async' }],
  ['resources/read', { uri: 'fail://now' }],
  ['prompts/get', { name: 'fail' }],
  ['prompts/list', {}],
]

scenario(
  "with errors: 'show', the client gets the message of what was thrown, without its stack",
  () => create('show'),
  async (client, _revision, { app }) => {
    const { log } = app as unknown as Logged
    for (const name of ['sync', 'async']) {
      expect(await client.call(name)).toMatchObject({
        content: [{ type: 'text', text: 'cannot read "due" of undefined' }],
        isError: true,
      })
    }
    expect((await client.call('text'))['content']).toEqual([{ type: 'text', text: 'just text' }])
    expect((await client.call('purpose'))['content']).toEqual([{ type: 'text', text: 'No such order' }])
    expect(JSON.stringify((await client.call('output'))['content'])).toMatch(
      /does not match its output schema: n:? /,
    )
    for (const [method, params] of REQUESTS.slice(2)) {
      const error = await refusal(client.request(method, params))
      expect([error.code, error.message]).toEqual([-32603, 'cannot read "due" of undefined'])
    }
    expect(client.transcript.map(({ text }) => text).join('')).not.toMatch(/shown-errors|\bat \w+ \(/)
    for (const name of ['empty', 'odd'])
      expect(JSON.stringify(await client.call(name))).toMatch(/failed \(reference /)
    // The operator sees everything, whatever clients get.
    expect(log).toHaveLength(9)
  },
)

scenario(
  'by default a masked error tells the reference of its request, which the log and the handler have too',
  () => create(undefined),
  async (client, _revision, { app }) => {
    const { log, references } = app as unknown as Logged
    for (const [method, params] of REQUESTS) {
      const answer = await client
        .request(method, params)
        .then(JSON.stringify, (error: unknown) => (error as Error).message)
      const [, reference] = /\(reference ([-0-9a-f]{36})\)/.exec(answer) ?? []
      expect(answer).not.toMatch(/due/)
      const [, facts] = log.at(-1) as [string, JsonObject]
      expect([references.at(-1), facts['reference']]).toEqual([reference, reference])
      expect((facts['error'] as Error).message).toBe('cannot read "due" of undefined')
    }
    expect(new Set(references).size).toBe(REQUESTS.length)
  },
)
