import { afterEach, expect, test, vi } from 'vitest'
import { health } from '../../src/extensions.ts'
import { createServer, McpError } from '../../src/index.ts'
import { refusal } from '../harness/wire-error.ts'
import { open, type Client } from '../harness/client.ts'

afterEach(() => vi.useRealTimers())

function thrown(define: () => unknown): McpError {
  try {
    define()
  } catch (error) {
    if (error instanceof McpError) return error
    throw error
  }
  return expect.fail('it was accepted')
}

test('limits.descriptionLength a description of a tool that is too long is refused where it is defined [S2-8.2-12]', () => {
  const server = createServer({ name: 's', version: '1' })
  server.tool('fits', { description: 'x'.repeat(10_000) }, () => '')
  const error = thrown(() => server.tool('long', { description: 'x'.repeat(10_001) }, () => ''))
  expect(error.message).toBe(
    'tool "long": the description has 10001 characters; shorten it, or raise limits.descriptionLength',
  )
  const other = createServer({ name: 's', version: '1', limits: { descriptionLength: 5 } })
  expect(thrown(() => other.tool('long', { description: '123456' }, () => '')).kind).toBe(
    'description_too_long',
  )
  other.tool('short', { description: '12345' }, () => '')
})

test('what is defined twice, and a schema that cannot be served, are refused by name [S2-8.3-7] [S2-8.3-5]', () => {
  const server = createServer({ name: 's', version: '1' })
    .tool('one', {}, () => '')
    .prompt('one', {}, () => '')
    .resource('one://it', {}, () => '')
    .resource('one://{it}', {}, () => '')
    .extend(health)
  const refusals = [
    thrown(() => server.tool('one', {}, () => '')),
    thrown(() => server.prompt('one', {}, () => '')),
    thrown(() => server.resource('one://it', {}, () => '')),
    thrown(() => server.resource('one://{it}', {}, () => '')),
    thrown(() => server.extend(health)),
    thrown(() =>
      server.tool('two', { input: { type: 'object', properties: { a: { type: 'word' } } } }, () => ''),
    ),
  ].map((error) => error.refusal)
  expect(refusals).toEqual([
    'TOOL_DUPLICATE',
    'PROMPT_DUPLICATE',
    'RESOURCE_DUPLICATE',
    'RESOURCE_DUPLICATE',
    'ENTITY_DUPLICATE',
    'INVALID_JSON_SCHEMA',
  ])
})

const HOUR = 3_600_000

test('limits.cursorMs a cursor can be used for so long, and is refused as expired after twice that [S2-8.2-14]', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000 * HOUR + 1 })
  const app = createServer({ name: 's', version: '1', pageSize: 1, limits: { cursorMs: HOUR } })
  for (const name of ['a', 'b', 'c']) app.tool(name, {}, () => name)
  const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
  const { nextCursor } = await client.get('tools/list', {})
  expect((await client.get('tools/list', {}))['nextCursor']).toBe(nextCursor)
  vi.setSystemTime(1_001 * HOUR + HOUR / 2)
  expect(await client.get('tools/list', { cursor: nextCursor })).toMatchObject({ tools: [{ name: 'b' }] })
  vi.setSystemTime(1_002 * HOUR)
  const error = await refusal(client.get('tools/list', { cursor: nextCursor }))
  expect(error).toMatchObject({
    code: -32602,
    message: 'the cursor is older than 3600000 ms',
    data: { refusal: { code: 1021, name: 'INVALID_PARAMS' } },
  })
  const fresh = (await client.get('tools/list', {}))['nextCursor']
  expect(fresh).not.toBe(nextCursor)
  expect(await client.get('tools/list', { cursor: fresh })).toMatchObject({ tools: [{ name: 'b' }] })
  await client.close()
})

/** Lists the tools at an hour; gives back the cursor of the next page. */
async function cursorAt(client: Client, hour: number): Promise<unknown> {
  vi.setSystemTime(hour * HOUR)
  return (await client.get('tools/list', {}))['nextCursor']
}

test('limits.cursorMs a first page that was listed long ago comes with a fresh cursor, not the expired one', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const app = createServer({ name: 's', version: '1', pageSize: 1, limits: { cursorMs: HOUR } })
  for (const name of ['a', 'b', 'c']) app.tool(name, {}, () => name)
  const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
  const [first, next, late] = [
    await cursorAt(client, 1_000),
    await cursorAt(client, 1_001),
    await cursorAt(client, 1_005),
  ]
  expect(new Set([first, next, late]).size).toBe(3)
  expect(await client.get('tools/list', { cursor: late })).toMatchObject({ tools: [{ name: 'b' }] })
  await client.close()
})

test('a cursor from a clock that is ahead is taken for one more period of limits.cursorMs, and no more', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const app = createServer({ name: 's', version: '1', pageSize: 1, limits: { cursorMs: HOUR } })
  for (const name of ['a', 'b', 'c']) app.tool(name, {}, () => name)
  const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
  const [ahead, farAhead] = [await cursorAt(client, 1_001), await cursorAt(client, 1_002)]
  vi.setSystemTime(1_000 * HOUR)
  expect(await client.get('tools/list', { cursor: ahead })).toMatchObject({ tools: [{ name: 'b' }] })
  const error = await refusal(client.get('tools/list', { cursor: farAhead }))
  expect([error.code, error.message]).toEqual([-32602, 'the cursor does not belong to this list'])
  await client.close()
})
