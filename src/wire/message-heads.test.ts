import { expect, test, vi } from 'vitest'
import type { RequestId } from '../protocol/jsonrpc.ts'
import { messageHeads } from './message-heads.ts'

const requestIds = (text: string, most: number): readonly RequestId[] =>
  messageHeads(text, most).flatMap(({ id }) => id ?? [])

test.each([
  ['a request', '{"jsonrpc":"2.0","id":7,"method":"ping"}', [7]],
  ['params before the id', '{"params":{"id":1,"x":[{"id":2}]},"method":"ping","id":"a\\"b"}', ['a"b']],
  ['an escaped name', '{"\\u0069d":3,"\\u006D\\u0065\\u0074\\u0068\\u006F\\u0064":"ping"}', [3]],
  ['a large id', '{"id":12345678901234567890,"method":"ping"}', [12_345_678_901_234_567_890n]],
  ['a repeated id', '{"id":1,"method":"ping","id":2}', [2]],
  ['a notification', '{"method":"ping"}', []],
  ['a response', '{"id":1,"result":{"method":"x"}}', []],
  ['an id that is none', '{"id":[1],"method":"ping"}', []],
  ['a batch', ' [ {"id":1,"method":"a"} , {"method":"b"}, 5, {"id":"c","method":"c"} ]', [1, 'c']],
  ['an empty batch', '[]', []],
  ['too large a batch', '[{"id":1,"method":"a"},1,2,3,{"id":2,"method":"a"}]', []],
  ['no message', '"id"', []],
  ['nothing', '', []],
  ['a text that ends early', '{"id":1,"method":"a","params":{"x":"', [1]],
  ['a text that is not JSON', '{"id":1 "method"', []],
])('the ids of the requests in %s', (_, text, ids) => {
  expect(requestIds(text, 4)).toEqual(ids)
})

test('C.values the params of a message are not parsed to find its id', () => {
  const names = Array.from({ length: 2000 }, (_, at) => `"${4_294_967_290 - at * 37}":{}`)
  const text = `{"params":{${names.join(',')}},"jsonrpc":"2.0","method":"ping","id":7}`
  const parse = vi.spyOn(JSON, 'parse')
  try {
    expect(requestIds(text, 100)).toEqual([7])
    const longest = Math.max(...parse.mock.calls.map(([part]) => part.length))
    expect(longest).toBeLessThan(20)
    expect(parse.mock.calls.length).toBeLessThan(10)
  } finally {
    parse.mockRestore()
  }
})

test.each([
  ['a notification', '{"method":"a/b"}', ['a/b']],
  ['an escaped one', '{"method":"a\\/\\u0062","id":1}', ['a/b']],
  ['a repeated one', '{"method":"a","method":"b"}', ['b']],
  ['a batch', '[{"method":"a"},{"id":1,"result":{}},{"method":"b","id":1}]', ['a', 'b']],
  ['a very long one', `{"method":"${'a'.repeat(1000)}"}`, ['']],
  ['a method that is none', '{"method":{"method":"a"}}', ['']],
  ['a response', '{"id":1,"result":{"method":"x"}}', []],
])('the methods in %s', (_, text, methods) => {
  expect(messageHeads(text, 4).map(({ method }) => method)).toEqual(methods)
})
