import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { OutgoingRequest } from '../../rpc/client-transport.ts'
import { MessageStream } from '../../rpc/message-stream.ts'
import { createMessageReader } from './message-reader.ts'

const LIMITS = {
  depth: 10,
  values: 100,
  keys: 20,
  containers: 10,
  batch: 10,
  clientBytes: 10_000,
  clientUnparsedBytes: 10_000_000,
  clientInvalid: 10,
}

/** Answers a request with a last line that has no line break. Resolves with the answer, and whether the line was parsed. */
async function endWith(last: string): Promise<{ answer: unknown; isParsed: boolean }> {
  const events = { onMessage: () => undefined, onClose: () => undefined }
  const messages = new MessageStream({ events: events as never, write: () => undefined })
  const cancel = { aborted: false, onCancel: () => undefined, offCancel: () => undefined }
  const request = { id: 1, method: 'ping', text: '', cancel } as unknown as OutgoingRequest
  const answered = messages.request(request).catch((error: unknown) => error)
  const input = new PassThrough()
  const reader = createMessageReader(input, messages, {
    events: events as never,
    limits: LIMITS,
    where: 'to stdout',
    onBroken: () => undefined,
  })
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  input.end(last)
  input.on('end', () => reader.end())
  const answer = await answered
  return { answer, isParsed: parse.mock.calls.some(([text]) => text === last) }
}

const answerWith = (result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 1, result })
const many = <Value>(count: number, value: Value): readonly Value[] => Array<Value>(count).fill(value)

test('a last line without a line break is an answer', async () => {
  const { answer } = await endWith(answerWith({ a: 1 }))
  expect(answer).toMatchObject({ result: { a: 1 } })
})

test.each([
  ['values', answerWith(many(200, 0))],
  ['containers', answerWith(many(20, []))],
  ['members', answerWith(Object.fromEntries(many(30, 0).map((_, index) => [`m${index}`, 0])))],
  ['members that count as several', answerWith({ 1: 0, 2: 0, 3: 0 })],
])('a last line without a line break that has too many %s is not parsed', async (_, line) => {
  const { answer, isParsed } = await endWith(line)
  expect(answer).toMatchObject({ kind: 'bad_answer' })
  expect(isParsed).toBe(false)
})
