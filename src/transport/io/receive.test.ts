import type { Message } from '../../protocol/jsonrpc.ts'
import { expect, test } from 'vitest'
import { Deadline } from '../../rpc/deadline.ts'
import { MessageStream } from '../../rpc/message-stream.ts'
import { answeredId, receiveText } from './receive.ts'

interface Made {
  readonly messages: Message[]
  request(id: number): Promise<Message>
  receive(text: string): boolean
  /** How many requests are still pending. */
  size(): number
}

function make(): Made {
  const messages: Message[] = []
  const onMessage = (message: Message): void => void messages.push(message)
  const stream = new MessageStream({ write: () => undefined, events: { onMessage, onDown: () => undefined } })
  return {
    messages,
    request(id) {
      const method = 'tools/call'
      const cancel = new Deadline({ method, idleMs: Infinity, totalMs: Infinity, signal: undefined })
      return stream.request({ id, method, text: '', cancel, headers: () => ({}), onMessage })
    },
    receive: (text) =>
      receiveText(stream, text, { depth: 100, values: 1000, keys: 1000, containers: 1000, batch: 100 }),
    size: () => stream.size,
  }
}

test.each([
  ['{"jsonrpc":"2.0","id":7,"result":{}}', 7],
  ['{ "id" : 7 , "jsonrpc":"2.0","error":', 7],
  ['{"result":{"id":5},"jsonrpc":"2.0","id":7}', 7],
  ['{"result":{},"id":7,"jsonrpc":"2.0"} ', 7],
  ['{"jsonrpc":"2.0","result":{"id":5}}', undefined],
  ['{"jsonrpc":"2.0","id":7,"method":"roots/list","params":5}', undefined],
  ['{"method":"roots/list","jsonrpc":"2.0","id":7}', undefined],
  ['{"jsonrpc":"2.0","id":"7","result":5}', undefined],
  ['{"jsonrpc":"2.0","id":99999999999999999999,"result":5}', undefined],
  ['{"jsonrpc":"2.0","id":null,"error":{}}', undefined],
  ['hello "id":7', undefined],
  ['', undefined],
])('the id that %s answers is read from its ends', (text, id) => {
  expect(answeredId(text)).toBe(id)
})

const ANSWER_1 = '{"jsonrpc":"2.0","id":1,"result":{"a":1}}'
const ANSWER_2 = '{"jsonrpc":"2.0","id":2,"result":{"b":2}}'
const NOTICE = '{"jsonrpc":"2.0","method":"notifications/x"}'

test('every member of a batch settles its own request', async () => {
  const { request, receive, messages } = make()
  const waiting = [request(1), request(2)]
  expect(receive(`[${ANSWER_2},${NOTICE},${ANSWER_1}]`)).toBe(true)
  expect(messages).toMatchObject([{ method: 'notifications/x' }])
  expect(await Promise.all(waiting)).toMatchObject([{ result: { a: 1 } }, { result: { b: 2 } }])
})

test('a broken member of a batch fails its own request, and the others are answered', async () => {
  const { request, receive, size } = make()
  const waiting = [request(1), request(2)]
  expect(receive(`[{"jsonrpc":"2.0","id":1,"result":5},${ANSWER_2}]`)).toBe(true)
  expect(size()).toBe(0)
  await expect(waiting[0]).rejects.toMatchObject({ kind: 'bad_answer' })
  expect(await waiting[1]).toMatchObject({ result: { b: 2 } })
})

test.each([
  ['the first', `["junk",${NOTICE}]`],
  ['the last', `[${NOTICE},"junk"]`],
  ['one that answers nobody', `[${NOTICE},{"jsonrpc":"2.0","id":7,"result":5}]`],
  ['one that asks', `[${NOTICE},{"jsonrpc":"2.0","id":1,"method":"roots/list","params":5}]`],
  ['null', `[${NOTICE},null]`],
])('a batch in which %s is no message is reported, and the rest of it is taken', async (_, text) => {
  const { request, receive, messages } = make()
  const waiting = request(1)
  expect(receive(text)).toBe(false)
  expect(messages).toMatchObject([{ method: 'notifications/x' }])
  expect(receive(ANSWER_1)).toBe(true)
  expect(await waiting).toMatchObject({ result: { a: 1 } })
})
