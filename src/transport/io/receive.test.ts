import { expect, test } from 'vitest'
import { answeredId } from './receive.ts'

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
