import type { Message } from '../../protocol/jsonrpc.ts'
import { expect, test } from 'vitest'
import { createServer } from '../../app/app.ts'
import { Deadline } from '../../rpc/deadline.ts'
import type { ClientTransport } from '../../rpc/client-transport.ts'
import { connectMemory } from './client.ts'

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
}

async function open(): Promise<{
  line: ClientTransport
  messages: Message[]
  call: ReturnType<typeof caller>
}> {
  const app = createServer({ id: 'memory', version: '1' })
  app.tool('echo', { description: 'Says it again' }, () => 'hello')
  app.tool('wait', { description: 'Takes long' }, () => new Promise(() => undefined))
  app.tool('count', { description: 'Tells how far it is' }, (_, ctx) => {
    ctx.progress(1, 2)
    return 'counted'
  })
  const messages: Message[] = []
  const line = await connectMemory(app, { limits: app.limits })({
    onMessage: (message) => void messages.push(message),
    onDown: () => undefined,
  })
  return { line, messages, call: caller(line) }
}

function caller(line: ClientTransport): (method: string, params: object) => Promise<Message> {
  let id = 0
  return (method, params) => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })
    const cancel = new Deadline({ method, idleMs: Infinity, totalMs: Infinity, signal: undefined })
    return line.request({ id, method, text, cancel, headers: () => ({}), onMessage: () => undefined })
  }
}

test('a server in the same process answers', async () => {
  const { line, call, messages } = await open()
  expect(await call('initialize', INITIALIZE)).toMatchObject({ result: { protocolVersion: '2025-11-25' } })
  await line.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  line.agree('2025-11-25')
  expect(await call('tools/call', { name: 'echo' })).toMatchObject({
    result: { content: [{ type: 'text', text: 'hello' }] },
  })
  await call('tools/call', { name: 'count', _meta: { progressToken: 5 } })
  expect(messages).toMatchObject([{ method: 'notifications/progress', params: { progressToken: 5 } }])
  expect(await call('nonsense', {})).toMatchObject({ error: { code: -32601 } })
  await line.close()
})

test('closing rejects pending and later requests', async () => {
  const { line, call } = await open()
  await call('initialize', INITIALIZE)
  const waiting = call('tools/call', { name: 'wait' }).catch((error: unknown) => error)
  await line.close()
  expect(await waiting).toMatchObject({ kind: 'closed' })
  await expect(call('ping', {})).rejects.toMatchObject({ kind: 'closed' })
  await expect(line.send('{}')).rejects.toMatchObject({ kind: 'closed' })
})
