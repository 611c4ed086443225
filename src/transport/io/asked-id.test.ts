import { expect, test } from 'vitest'
import { askedId } from './asked-id.ts'

test.each([
  ['{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"', 7],
  [' { "method" : "tools/call" , "id" : "a\\"b" , "params":', 'a"b'],
  ['{"jsonrpc":"2.0","id":-7,"method":"ping"}', -7],
  ['{"jsonrpc":"2.0","id":7,"result":{"method":"x",', undefined],
  ['{"jsonrpc":"2.0","method":"notifications/x","params":{"id":7,', undefined],
  ['{"jsonrpc":"2.0","id":1e3,"method":"ping","params":', undefined],
  ['{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping",', undefined],
  ['{"jsonrpc":"2.0","id":"\\q","method":"ping",', undefined],
  ['[{"jsonrpc":"2.0","id":7,"method":"ping"},', undefined],
  ['', undefined],
])('the id under which %s asks is read from its beginning', (text, id) => {
  expect(askedId(text)).toBe(id)
})
