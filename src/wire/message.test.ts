import { expect, test } from 'vitest'
import { readMessage } from './message.ts'

const members = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 0]))

const HEAD = { jsonrpc: '2.0', method: 'x' }

test('a message with more members than any has is rejected, in itself, in its params and in their _meta', () => {
  const messages = (count: number): readonly object[] => [
    { ...HEAD, ...members(count - 2) },
    { ...HEAD, params: members(count) },
    { ...HEAD, params: { _meta: members(count) } },
  ]
  for (const message of messages(10_000)) expect(readMessage(message)).toBe(message)
  for (const message of messages(10_001))
    expect(() => readMessage(message)).toThrow(/ha(?:s|ve) more than 10000 members/)
})
