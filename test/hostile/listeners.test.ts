import { expect, test } from 'vitest'
import { META } from '../../src/protocol/meta.ts'
import { extensionServer, extensionTask } from '../client/task-server.ts'
import { connect } from '../../src/client.ts'
import { after, failure, meet, text, until, type Attack } from './peer.ts'

/** The rejections that nobody handled while a test runs, each of which would end a program. */
function unhandled(): unknown[] {
  const found: unknown[] = []
  const note = (reason: unknown): void => void found.push(reason)
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', note)
  after(() => {
    process.off('unhandledRejection', note)
    for (const other of others) process.on('unhandledRejection', other)
  })
  return found
}

/** What an async function does that fails. */
const fail = (): never => Promise.reject(new Error('async')) as unknown as never

/** A server that reports a change of a resource to those who listen. */
const changing: Attack = ({ id, method, params }, wire) => {
  if (method !== 'subscriptions/listen') return false
  const { notifications } = params
  const sent = { notifications, _meta: { [META.subscriptionId]: id } }
  wire.send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: sent })
  wire.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'note://one' } })
  return setTimeout(() => {
    wire.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'note://one' } })
  }, 20)
}

test('a listener that returns a rejected promise causes a warning, as one that throws does', async () => {
  const lost = unhandled()
  const { client, warnings } = await meet('memory', changing)
  let others = 0
  client.on('change', fail)
  client.on('change', () => void others++)
  await client.subscribe('note://one', () => undefined)
  await until(() => warnings.length >= 2 && others >= 2)
  expect(warnings[0]).toBe('a listener for "change" threw Error: async')
  expect(lost).toEqual([])
})

test.each([
  ['throws', () => void JSON.parse('no')],
  ['returns a rejected promise', fail],
])('a listener of a subscription that %s causes a warning, and gets the next change', async (_, listener) => {
  const lost = unhandled()
  const { client, warnings } = await meet('memory', changing)
  let calls = 0
  await client.subscribe('note://one', () => {
    calls++
    return listener()
  })
  await until(() => calls >= 2 && warnings.length >= 2)
  expect(warnings[0]).toMatch(/^a listener for "note:\/\/one" threw /)
  expect(lost).toEqual([])
})

test('an onProgress that returns a rejected promise ends the call, as one that throws does', async () => {
  const lost = unhandled()
  const { client } = await meet('memory', ({ method, params }, wire) => {
    if (method !== 'tools/call') return false
    const { progressToken } = params['_meta'] as { readonly progressToken: number }
    wire.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } })
    return setTimeout(() => wire.reply(text('late')), 1000).unref()
  })
  expect(await failure(client.call('t', {}, { onProgress: fail }))).toMatchObject({ message: 'async' })
  expect(lost).toEqual([])
})

test('an onProgress of a task that returns a rejected promise ends the call', async () => {
  const lost = unhandled()
  const server = extensionServer({
    'tasks/get': () => extensionTask('working', { statusMessage: 'at it' }),
    'tasks/cancel': () => ({}),
  })
  const client = await connect(server, { timeout: '30s' })
  after(() => client.close())
  const call = client.call('render', {}, { onProgress: fail, total: '20s' })
  expect(await failure(call)).toMatchObject({ message: 'async' })
  expect(lost).toEqual([])
})
