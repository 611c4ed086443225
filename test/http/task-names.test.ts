import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META, TASKS_EXTENSION } from '../../src/protocol/meta.ts'
import { headed } from './messages.ts'
import { start } from './server.ts'
import { post } from './wire.ts'

const DECLARED = { [META.clientCapabilities]: { extensions: { [TASKS_EXTENSION]: {} } } }

function films(): App {
  return createServer({ name: 'films', version: '1', log: () => undefined })
    .tool('hang', { task: 'required' }, () => new Promise(() => undefined))
    .tool('render', { task: 'required' }, async (_, { elicit }) => {
      await elicit('Sure?', { type: 'object', properties: { sure: { type: 'boolean' } } })
      return 'a film'
    })
}

test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
  'the server checks that Mcp-Name of %s is the id of the task [R259]',
  async (method) => {
    const { port } = await start(films())
    const call = headed('tools/call', { name: 'hang', arguments: {}, _meta: DECLARED })
    const created = (await post(port, call.body, call.headers)).json['result'] as JsonObject
    const taskId = created['taskId'] as string
    const { body, headers } = headed(method, { taskId, inputResponses: {}, _meta: DECLARED })
    for (const wrong of [{}, { 'mcp-name': 'hang' }, { 'mcp-name': taskId.toLowerCase() }]) {
      const reply = await post(port, body, { ...headers, ...wrong })
      expect([reply.status, reply.json['error']]).toMatchObject([
        400,
        { code: -32020, data: { header: 'Mcp-Name' } },
      ])
    }
    // None of them had an effect.
    const got = headed('tasks/get', { taskId, _meta: DECLARED })
    const seen = await post(port, got.body, { ...got.headers, 'mcp-name': taskId })
    expect(seen.json).toMatchObject({ result: { taskId, status: 'working' } })
    const right = await post(port, body, { ...headers, 'mcp-name': taskId })
    expect([right.status, right.json['error']]).toEqual([200, undefined])
  },
)

test('the client sends the id of the task as Mcp-Name [R259]', async () => {
  const { port } = await start(films())
  const seen = new Map<string, string | null>()
  const spying: typeof fetch = (input, init = {}) => {
    const { method } = JSON.parse(init.body as string) as { method: string }
    seen.set(method, new Headers(init.headers).get('mcp-name'))
    return fetch(input, init)
  }
  await using client = await connect(`http://127.0.0.1:${port}/mcp`, {
    fetch: spying,
    revision: '2026-07-28',
    answers: { elicit: () => ({ action: 'decline' }) },
  })
  const task = await client.start('render', {})
  expect(await task.result()).toBe('a film')
  const other = await client.start('render', {})
  await other.cancel()
  expect([...seen].filter(([method]) => method.startsWith('tasks/'))).toEqual([
    ['tasks/get', task.id],
    ['tasks/update', task.id],
    ['tasks/cancel', other.id],
  ])
})
