import { expect, test } from 'vitest'
import type { Choices } from '../../protocol/choices.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import { serverCapabilities } from './server-capabilities.ts'

const adapter = serverCapabilities({ serverCapabilities: 'extra' } as Choices, '2025-11-25')

function encoded(capabilities: JsonObject): unknown {
  return adapter?.encodeResult?.('initialize', { capabilities })['capabilities']
}

function decoded(capabilities: JsonObject): unknown {
  return adapter?.decodeResult?.('initialize', { capabilities })['capabilities']
}

test('a server declares the client capabilities that it uses, and completion in every spelling', () => {
  expect(encoded({ tools: {}, completions: {} })).toEqual({
    tools: {},
    completions: { supported: true },
    completion: {},
    sampling: {},
    roots: {},
  })
  expect(encoded({ completions: { a: 1 } })).toMatchObject({ completions: { a: 1, supported: true } })
  expect(encoded({ tools: {} })).toEqual({ tools: {}, sampling: {}, roots: {} })
})

test('a client reads either spelling of completion, and the official one wins', () => {
  expect(decoded({ completion: { a: 1 } })).toEqual({ completion: { a: 1 }, completions: { a: 1 } })
  expect(decoded({ completion: {}, completions: { a: 1 } })).toEqual({
    completion: {},
    completions: { a: 1 },
  })
  expect(decoded({ tools: {} })).toEqual({ tools: {} })
})

test('other results, and the official choice, change nothing', () => {
  const result = { capabilities: { completion: {}, completions: {} } }
  expect(adapter?.encodeResult?.('server/discover', result)).toBe(result)
  expect(adapter?.decodeResult?.('server/discover', result)).toBe(result)
  expect(serverCapabilities({ serverCapabilities: 'official' } as Choices, '2025-11-25')).toBeUndefined()
})
