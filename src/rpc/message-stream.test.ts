import type { Message } from '../protocol/jsonrpc.ts'
import { expect, test } from 'vitest'
import { mcpError } from '../errors/error.ts'
import { BAD_ANSWER } from '../errors/client.ts'
import { CLOSED, OVERLOADED, TIMEOUT } from '../errors/rpc.ts'
import { STREAM_LOST } from '../errors/transport.ts'
import { Deadline } from './deadline.ts'
import type { OutgoingRequest } from './client-transport.ts'
import { MessageStream } from './message-stream.ts'

interface Made {
  readonly stream: MessageStream
  readonly written: string[]
  readonly messages: Message[]
  readonly notes: string[]
}

function make(write?: (text: string) => void): Made {
  const written: string[] = []
  const messages: Message[] = []
  const notes: string[] = []
  const stream = new MessageStream({
    write: write ?? ((text) => void written.push(text)),
    events: {
      onMessage: (message) => void messages.push(message),
      onDown: () => undefined,
      onNote: (_, text) => void notes.push(text),
    },
  })
  return { stream, written, messages, notes }
}

function outgoing(id: number, signal?: AbortSignal): OutgoingRequest {
  const method = 'tools/call'
  const cancel = new Deadline({ method, idleMs: Infinity, totalMs: Infinity, signal })
  return { id, method, text: `request ${id}`, cancel, headers: () => ({}), onMessage: () => undefined }
}

test('responses settle their requests in whatever order they arrive', async () => {
  const { stream, written } = make()
  const requests = [1, 2, 3].map((id) => stream.request(outgoing(id)))
  expect(stream.size).toBe(3)
  for (const id of [3, 1, 2]) stream.take({ id, result: { of: id } })
  expect(await Promise.all(requests)).toEqual([1, 2, 3].map((id) => ({ id, result: { of: id } })))
  expect(written).toEqual(['request 1', 'request 2', 'request 3'])
  expect(stream.size).toBe(0)
})

test('a response that arrives while its request is being written is not lost', async () => {
  const stream: MessageStream = new MessageStream({
    write: () => stream.take({ id: 1, result: {} }),
    events: { onMessage: () => undefined, onDown: () => undefined },
  })
  expect(await stream.request(outgoing(1))).toEqual({ id: 1, result: {} })
})

test('an error counts as a response, and a second response is ignored', async () => {
  const { stream } = make()
  const request = stream.request(outgoing(1))
  stream.take({ id: 1, error: { code: -32601, message: 'no' } })
  stream.take({ id: 1, result: {} })
  stream.take({ id: '1', result: {} })
  expect(await request).toMatchObject({ error: { code: -32601 } })
})

test('notifications and server requests go to the client, even with the id of a pending request', async () => {
  const { stream, messages } = make()
  const request = stream.request(outgoing(1))
  stream.take({ id: 1, method: 'roots/list' })
  stream.take({ method: 'notifications/progress', params: {} })
  stream.take({ id: 1, result: {} })
  await request
  expect(messages.map(({ method }) => method)).toEqual(['roots/list', 'notifications/progress'])
})

test('an error without an id fails the only pending request', async () => {
  const { stream, notes } = make()
  const error = { code: -32600, message: 'the message is too large' }
  const request = stream.request(outgoing(1))
  stream.take({ error })
  expect(await request).toEqual({ error: { ...error, data: { mayHaveRun: true } } })
  expect([notes, stream.size]).toEqual([[], 0])
})

test.each([0, 2])('an error without an id is noted while %i requests wait: nobody can be told', (count) => {
  const { stream, notes, messages } = make()
  for (let id = 1; id <= count; id++) void stream.request(outgoing(id))
  stream.take({ error: { code: -32700, message: 'cannot read this' } })
  expect(notes).toEqual(['the server could not read a message: cannot read this'])
  expect(messages).toEqual([])
})

test('an error without an id is noted if something else was sent while the request waits', async () => {
  const { stream, notes } = make()
  const request = stream.request(outgoing(1))
  stream.sentOther()
  stream.take({ error: { code: -32700, message: 'cannot read this' } })
  expect([notes.length, stream.size]).toEqual([1, 1])
  stream.take({ id: 1, result: {} })
  await request
  const next = stream.request(outgoing(2))
  stream.take({ error: { code: -32700, message: 'cannot read this', data: 'why' } })
  expect(await next).toMatchObject({ error: { data: { value: 'why', mayHaveRun: true } } })
})

test('an error without an id is noted after a request was abandoned, until a later one is answered', async () => {
  const { stream, notes } = make()
  const error = { code: -32700, message: 'cannot read this' }
  const stop = new AbortController()
  const abandoned = stream.request(outgoing(1, stop.signal))
  stop.abort()
  await expect(abandoned).rejects.toMatchObject({ kind: 'cancelled' })
  const second = stream.request(outgoing(2))
  stream.take({ error })
  expect([notes.length, stream.size]).toEqual([1, 1])
  stream.take({ id: 2, result: {} })
  await second
  const third = stream.request(outgoing(3))
  stream.take({ error })
  expect(await third).toMatchObject({ error })
})

test('aborting a request rejects it with the reason and leaves nothing behind', async () => {
  const { stream, written } = make()
  const controller = new AbortController()
  const request = stream.request(outgoing(1, controller.signal))
  const reason = mcpError(TIMEOUT, { method: 'tools/call', ms: 1 })
  controller.abort(reason)
  await expect(request).rejects.toBe(reason)
  await expect(stream.request(outgoing(2, controller.signal))).rejects.toBe(reason)
  expect([stream.size, written]).toEqual([0, ['request 1']])
})

test('a request that cannot be written is rejected and does not stay pending', async () => {
  const { stream } = make(() => {
    throw mcpError(OVERLOADED, {})
  })
  await expect(stream.request(outgoing(1))).rejects.toMatchObject({ kind: 'overloaded' })
  expect(stream.size).toBe(0)
})

test('one request can be failed by its id', async () => {
  const { stream } = make()
  const first = stream.request(outgoing(1))
  expect(stream.only).toBe(1)
  const second = stream.request(outgoing(2))
  expect(stream.only).toBeUndefined()
  const toError = (method: string) => mcpError(BAD_ANSWER, { method, issue: 'why' })
  expect([stream.reject(9, toError), stream.reject(undefined, toError), stream.reject(1, toError)]).toEqual([
    false,
    false,
    true,
  ])
  await expect(first).rejects.toThrow('the server sent an invalid answer to tools/call: why')
  stream.take({ id: 2, result: {} })
  await second
})

test('when the stream fails, pending and later requests are rejected with the first reason', async () => {
  const { stream, written } = make()
  const requests = Array.from({ length: 200 }, (_, id) => stream.request(outgoing(id)))
  const reason = mcpError(STREAM_LOST, { method: 'x' }, { data: { exitCode: 1 } })
  stream.fail(reason)
  stream.fail(mcpError(CLOSED, {}))
  const outcomes = await Promise.allSettled([...requests, stream.request(outgoing(200))])
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ reason: { kind: 'stream_lost', cause: reason, data: { exitCode: 1 } } })
  }
  expect([written.length, stream.size, stream.failure]).toEqual([200, 0, reason])
})
