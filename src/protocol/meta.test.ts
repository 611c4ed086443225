import { expect, test } from 'vitest'
import { createServer } from '../app/app.ts'
import { metaKeyProblem } from './meta.ts'

test.each([
  'name',
  'a.b-c_d',
  'com.example/name',
  'com.example.mcp/name',
  'dev.pierhead/refusal',
  'com.example/',
])('the key %s is an author’s to use [S4-15-1]', (key) => {
  expect(metaKeyProblem(key)).toBeUndefined()
})

test.each(['-name', 'name-', 'a b', '1com/name', 'com..example/name', '/name'])(
  'the key %s is malformed [S4-15-1]',
  (key) => {
    expect(metaKeyProblem(key)).toMatch(/a name|a prefix/)
  },
)

test.each(['io.modelcontextprotocol/x', 'com.mcp.tools/x', 'api.mcp/x'])(
  'the prefix of %s is reserved [S4-15-2]',
  (key) => {
    expect(metaKeyProblem(key)).toMatch(/reserved/)
  },
)

test('a definition with a reserved key is refused, naming the item and the key [S4-15-2]', () => {
  const app = createServer({ name: 'x', version: '1' })
  expect(() => app.tool('t', { _meta: { 'io.modelcontextprotocol/x': 1 } }, () => 'x')).toThrow(
    /"t".*"io.modelcontextprotocol\/x" cannot be used.*reserved/,
  )
})
