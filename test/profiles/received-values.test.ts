import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, type App, type McpError } from '../../src/index.ts'
import { erlmcp, official, type Profile } from '../../src/profiles.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'

const one = (type: string): JsonObject => ({ type })
const FORM = {
  type: 'object',
  properties: {
    n: one('number'),
    short: { type: 'string', maxLength: 3 },
    flag: one('string'),
    apiKey: one('number'),
    login: { type: 'object', properties: { password: { type: 'string', maxLength: 3 } } },
  },
  required: ['n'],
} as const

function createApp(profile: Profile): App {
  const limits = { memoryBytes: 5000 }
  return createServer({ name: 'form', version: '1', profile, limits })
    .tool('fill', { description: 'Takes a form', input: FORM }, () => 'filled')
    .prompt('ask', { args: { type: 'object', properties: { n: { enum: ['1', '2'] } } } }, () => 'Go on.')
    .resource('form://one', {}, () => 'a form')
}

/** What an error that a request ends in says in its data, without the refusal. */
async function dataOf(request: Promise<unknown>): Promise<JsonObject> {
  const error = await request.then(
    () => expect.fail('it was accepted'),
    (thrown: unknown) => thrown as McpError,
  )
  const { refusal: _, ...data } = error.data as JsonObject
  return data
}

test('errors carry details, field, type, expectedType, receivedValue, uri and maxSize [S2-8.4-2]', async () => {
  await using client = await connect(createApp(erlmcp), { profile: erlmcp })
  expect(await dataOf(client.call('fill', { n: 'one' }))).toEqual({
    details: 'expected number, got string',
    field: 'n',
    type: 'type_mismatch',
    expectedType: 'number',
    receivedValue: 'one',
  })
  expect(await dataOf(client.call('fill', {}))).toEqual({
    details: 'is required',
    field: 'n',
    type: 'required',
  })
  expect(await dataOf(client.prompt('ask', { n: '3' }))).toMatchObject({
    field: 'n',
    type: 'invalid_value',
    receivedValue: '3',
  })
  expect(await dataOf(client.read('form://two'))).toMatchObject({ uri: 'form://two' })
  expect(await dataOf(client.call('fill', { n: 1, flag: 'x'.repeat(5000) }))).toMatchObject({ maxSize: 5000 })
})

test.each([
  ['a number', { n: 1, flag: 5 }, { receivedValue: 5 }],
  ['a boolean', { n: true }, { receivedValue: true }],
  ['null', { n: null }, { receivedValue: null }],
  ['a long string', { n: 'x'.repeat(1000) }, { receivedValue: `${'x'.repeat(79)}…` }],
  ['a string with control characters', { n: 'a\u001B[2Jb' }, { receivedValue: String.raw`a\u001b[2Jb` }],
  ['a string that is too long', { n: 1, short: 'abcd' }, { receivedValue: 'abcd' }],
  ['a list', { n: [1, 2] }, {}],
  ['an object', { n: { deep: 1 } }, {}],
  ['a field named like a secret', { n: 1, apiKey: 'sk-123' }, {}],
  ['a secret further in', { n: 1, login: { password: 'hunter2' } }, {}],
])('of %s only what is safe is repeated', async (_, args, shown) => {
  const profile = erlmcp.with({ argumentErrors: 'error' })
  await using client = await connect(createApp(profile), { profile })
  const { receivedValue, details } = await dataOf(client.call('fill', args))
  expect(details).toEqual(expect.any(String))
  expect(receivedValue === undefined ? {} : { receivedValue }).toEqual(shown)
})

test.each([
  [
    'pwd',
    'pwd',
    'userPwd',
    'PIN',
    'pin',
    'userPin',
    'pin_code',
    'PINCode',
    'auth',
    'x-auth',
    'basicAuth',
    'oauth2',
  ],
  [
    'cvv',
    'cardCVV',
    'accessKey',
    'access_key',
    'apikey',
    'API-KEY',
    'APIkey',
    'newPassword',
    'privateKey',
    'sessionToken',
  ],
])('a field is known for a secret by its name: %s, %s, …', async (...names) => {
  expect(await shownOf(names)).toEqual([])
})

test('a name that only contains the letters of a secret is not one', async () => {
  const names = ['shipping', 'pinned', 'opinion', 'author', 'authored', 'key', 'keyboard', 'access']
  expect(await shownOf(names)).toEqual(names)
})

/** Those of some fields whose wrong values an error repeats. */
async function shownOf(names: readonly string[]): Promise<readonly string[]> {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'number' }]))
  const app = createServer({ name: 'names', version: '1', profile: erlmcp, log: () => undefined })
  app.tool('fill', { input: { type: 'object', properties } }, () => 'filled')
  await using client = await connect(app, { profile: erlmcp })
  const shown: string[] = []
  for (const name of names)
    if ('receivedValue' in (await dataOf(client.call('fill', { [name]: 'x' })))) shown.push(name)
  return shown
}

test.each([
  ['hidden officially', official, false],
  ['shown when asked for', official.with({ receivedValues: 'shown' }), true],
])('a wrong value is %s', async (_, profile, shown) => {
  await using client = await connect(createApp(profile), { revision: '2025-06-18' })
  const data = await dataOf(client.call('fill', { n: 'one' }))
  expect(data).toMatchObject({ field: 'n' })
  expect('receivedValue' in data).toBe(shown)
})
