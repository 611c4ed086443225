import { expect, test } from 'vitest'
import { createClient, McpError } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { DIALECTS } from '../../src/protocol/switches.ts'
import { toChecker } from '../../src/schema/checker.ts'
import { provePattern, toMatcher } from '../../src/schema/pattern.ts'
import { encodeHeaderValue } from '../../src/wire/header-value.ts'
import { checkValue } from '../../src/wire/headers.ts'
import { decodeAnswer } from '../../src/wire/encode.ts'
import { scripted, spoken, type Script } from '../client/scripted.ts'
import { processorMs } from '../harness/processor.ts'

/** What the fuzzer found, each as its smallest input. */

test('a name with half of a surrogate pair passes the check of its own header', () => {
  for (const name of ['a\ud83d', '\ude00', 'é\ud800b']) {
    expect(checkValue('Mcp-Name', encodeHeaderValue(name), name)).toBeUndefined()
    expect(checkValue('Mcp-Name', encodeHeaderValue(`${name}!`), name)).toMatchObject({
      reason: 'differs from the body',
    })
  }
})

test('the answer to a lowered form may have content that is not an object', () => {
  const cargo = { type: 'array', items: { type: 'string', enum: ['coal', 'tea'] } }
  const asked = { mode: 'form', message: 'm', requestedSchema: { type: 'object', properties: { cargo } } }
  for (const content of [null, 'coal', 3, ['coal']]) {
    const answer = { action: 'accept', content }
    expect(decodeAnswer('elicitation/create', answer, asked, DIALECTS['2025-06-18'])).toEqual(answer)
  }
})

test('an object that looks like a list is not taken for the list that a schema names', async () => {
  const lists = { type: 'object', properties: { none: { const: [] }, one: { enum: [[1], 'x'] } } }
  const { check } = toChecker(lists, 'input')
  for (const text of ['{"none":{"length":0}}', '{"none":{"__proto__":[]}}', '{"one":{"0":1,"length":1}}'])
    expect([text, (await check(JSON.parse(text))).ok]).toEqual([text, false])
  for (const text of ['{"none":[]}', '{"one":[1]}', '{"one":"x"}'])
    expect([text, (await check(JSON.parse(text))).ok]).toEqual([text, true])
})

test('a pattern of many word edges, which takes an engine minutes to compile, is not matched', async () => {
  for (const edge of ['(?:\\b)', '(?:\\B)', '\\b(?:)', '\\b(?:^)', '(?:(?:\\b)$)']) {
    const ms = await processorMs(() => {
      expect(provePattern(`^${edge.repeat(20)}a`)).toMatchObject({ cost: 'unsafe' })
      expect(toMatcher(`^${edge.repeat(20)}a`).test('a')).toBe(false)
    })
    expect(ms).toBeLessThan(1000)
  }
  for (const pattern of ['\\bfoo\\b|\\bbar\\b|\\bbaz\\b', '^\\b[a-z]+\\b$', '^(?:\\b)(?:\\b)a'])
    expect(provePattern(pattern).cost).not.toBe('unsafe')
})

/** An object that has no text: `String` throws for it. */
const MUTE = { toString: 1, valueOf: 1 }

test('a notification about a resource without a text for a URI does not bring the client down', async () => {
  const server = scripted('2025-11-25', sayFirst('notifications/resources/updated', { uri: MUTE }))
  const client = createClient(server, { revision: '2025-11-25' })
  const changes: unknown[] = []
  client.on('change', (change) => changes.push(change))
  expect(await client.call('echo')).toBe('here')
  expect(changes).toEqual([{ kind: 'resource', uri: JSON.stringify(MUTE) }])
  await client.close()
})

test.each<[what: string, revision: Revision, result: JsonObject]>([
  ['a result type', '2026-07-28', { resultType: MUTE, content: [] }],
  ['a question', '2026-07-28', { resultType: 'input_required', inputRequests: { a: { method: MUTE } } }],
  ['a mode', '2026-07-28', asking({ mode: MUTE, message: 'm' })],
  ['a URL', '2026-07-28', asking({ mode: 'url', message: 'm', url: MUTE })],
])('%s without a text is refused with an error of the client', async (_, revision, result) => {
  const server = scripted(revision, ({ method }, peer) => {
    if (method === 'tools/call') peer.reply(result)
    return method === 'tools/call'
  })
  const answers = {
    elicit: () => ({ action: 'cancel' }) as const,
    elicitUrl: () => ({ action: 'cancel' }) as const,
  }
  const client = createClient(server, { revision, answers })
  await expect(client.call('echo')).rejects.toBeInstanceOf(McpError)
  await client.close()
})

test('a protocol version without a text is refused with an error of the client', async () => {
  const server = scripted('2025-11-25', ({ method }, peer) => {
    if (method === 'initialize') peer.reply({ protocolVersion: MUTE, capabilities: {}, serverInfo: {} })
    return method === 'initialize'
  })
  const client = createClient(server, { revision: '2025-11-25' })
  await expect(client.open()).rejects.toBeInstanceOf(McpError)
  await client.close()
})

function sayFirst(method: string, params: JsonObject): Script {
  return (message, peer) => {
    if (message.method !== 'tools/call') return false
    peer.send({ method, params })
    peer.reply(spoken('here'))
    return true
  }
}

function asking(params: JsonObject): JsonObject {
  return { resultType: 'input_required', inputRequests: { a: { method: 'elicitation/create', params } } }
}
