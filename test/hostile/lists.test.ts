import { expect, test } from 'vitest'
import { Group, type Client } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { processorMs } from '../harness/processor.ts'
import { all, answer, EARLIER, WAYS, failure, meet, quiet, text, tool, until, web } from './peer.ts'

test.each(WAYS)('C.sane a well-behaved server works, over %s', async (way) => {
  for (const speaks of ['2026-07-28', EARLIER] as const) {
    const { client } = await meet(way, () => false, { speaks })
    expect((await client.server()).revision).toBe(speaks)
    expect((await all(client.tools())).map(({ name }) => name)).toEqual(['echo'])
    expect(await client.call('echo', { a: 1 })).toBe('{"a":1}')
    expect((await client.read('note://one')).contents).toHaveLength(1)
    expect((await client.prompt('greet')).messages).toHaveLength(1)
    await client.ping()
  }
})

test.each(WAYS)('C.page-endless endless pagination is bounded, over %s [R182]', async (way) => {
  const { client, count } = await meet(way, ({ method, params }, wire) => {
    if (method !== 'tools/list') return false
    const page = Number(params['cursor'] ?? 0)
    return wire.reply({ tools: [tool(`t${page}`)], nextCursor: String(page + 1) })
  })
  const error = await failure(all(client.tools()))
  expect(error).toMatchObject({ kind: 'answer_too_large' })
  expect(count('tools/list')).toBeLessThanOrEqual(1000)
  expect(await client.call('echo')).toBe('{}')
})

test('others get a turn while a long page is read', async () => {
  const resources = Array.from({ length: 20_000 }, (_, at) => ({ uri: `note://${at}`, name: 'one' }))
  const { client } = await meet(
    'memory',
    ({ method }, wire) => method === 'resources/list' && wire.reply({ resources }),
  )
  const items = client.resources()
  await items.next()
  let turns = 0
  const count = (): void => {
    turns++
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  let read = 1
  for await (const _ of items) read++
  clearImmediate(timer)
  expect(read).toBe(20_000)
  expect(turns).toBeGreaterThanOrEqual(10)
})

test('others get a turn while a group names the items of a long list, and while they are read', async () => {
  const items = Array.from({ length: 20_000 }, (_, at) => ({ name: `t.${at}` }))
  const client = { tools: () => ({ toArray: async () => items }) } as unknown as Client
  const tools = new Group(new Map([['a', client]]), new Map()).tools()
  let turns = 0
  const count = (): void => {
    turns++
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  await tools.next()
  const naming = turns
  expect(await all(tools)).toHaveLength(19_999)
  clearImmediate(timer)
  expect(naming).toBeGreaterThanOrEqual(10)
  expect(turns - naming).toBeGreaterThanOrEqual(10)
})

test('C.page-endless pages without anything in them are bounded too', async () => {
  const { client, count } = await meet('memory', ({ method }, wire) => {
    if (method !== 'resources/list') return false
    return wire.reply({ resources: [], nextCursor: String(Math.random()) })
  })
  expect(await failure(all(client.resources()))).toMatchObject({ kind: 'answer_too_large' })
  expect(count('resources/list')).toBeLessThanOrEqual(1000)
})

test('C.page-endless a list that is too large to be held is given up', async () => {
  const word = 'x'.repeat(4_000_000)
  const { client, count } = await meet('memory', ({ method }, wire) => {
    if (method !== 'prompts/list') return false
    const prompts = [{ name: String(Math.random()), description: word }]
    return wire.reply({ prompts, nextCursor: String(Math.random()), ttlMs: 60_000 })
  })
  expect(await failure(all(client.prompts()))).toMatchObject({ kind: 'answer_too_large' })
  expect(count('prompts/list')).toBeLessThan(100)
})

test('C.page-endless lists that fit one by one are given up if they are too large together, but may be read again', async () => {
  const description = 'x'.repeat(4_000_000)
  const { client } = await meet('memory', ({ method = '', params }, wire) => {
    const member = method.replace(/\/list$/, '')
    if (!['tools', 'resources', 'prompts'].includes(member)) return false
    const page = Number(params['cursor'] ?? 1)
    const item = { name: `n${page}`, uri: `note://${page}`, description, inputSchema: { type: 'object' } }
    return wire.reply({ [member]: [item], ...(page < 15 && { nextCursor: String(page + 1) }) })
  })
  for (let times = 0; times < 3; times++) expect(await client.tools().toArray()).toHaveLength(15)
  expect(await client.resources().toArray()).toHaveLength(15)
  expect(await failure(client.prompts().toArray())).toMatchObject({
    kind: 'answer_too_large',
    message: 'the server sent more than 134217728 bytes of all its lists',
  })
  expect(await client.tools().toArray()).toHaveLength(15)
})

test.each(WAYS)('C.page-loop a cursor that never advances is detected, over %s', async (way) => {
  for (const cycle of [1, 3]) {
    let page = 0
    const { client, count } = await meet(way, ({ method }, wire) => {
      if (method !== 'tools/list') return false
      return wire.reply({ tools: [tool('same')], nextCursor: `c${page++ % cycle}` })
    })
    const error = await failure(all(client.tools()))
    expect(error).toMatchObject({ kind: 'bad_answer' })
    expect(error.message).toContain('a cursor was repeated')
    expect(count('tools/list')).toBe(cycle + 1)
  }
})

test.each(WAYS)(
  'C.list-changed-storm 5 000 notifications do not cause 5 000 requests, over %s',
  async (way) => {
    const { client, count } = await meet(
      way,
      ({ method, params }, wire) => {
        if (method !== 'tools/call' || params['name'] !== 'storm') return false
        for (let times = 0; times < 5000; times++)
          wire.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} })
        return wire.reply(text('done'))
      },
      { speaks: EARLIER },
    )
    await all(client.tools())
    const stop = new AbortController()
    let changes = 0
    const watching = (async () => {
      for await (const _ of client.watch({ tools: true, resources: ['note://one'], signal: stop.signal })) {
        changes++
        await all(client.tools())
      }
    })()
    await until(() => count('resources/subscribe') > 0)
    expect(await client.call('storm')).toBe('done')
    await until(() => changes > 0)
    await quiet(50)
    stop.abort()
    await watching
    expect(count('tools/list')).toBeLessThan(500)
  },
)

test.each(WAYS)(
  'C.list-changed-storm changes of resources that nobody named do not pile up, over %s',
  async (way) => {
    const { client, count } = await meet(
      way,
      ({ method, params }, wire) => {
        if (method !== 'tools/call' || params['name'] !== 'storm') return false
        for (let times = 0; times < 5000; times++) {
          const uri = `note://one/${times}`
          wire.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } })
        }
        return wire.reply(text('done'))
      },
      { speaks: EARLIER },
    )
    const watching = client.watch({ resources: ['note://one'] })
    const first = watching.next()
    await until(() => count('resources/subscribe') > 0)
    await client.call('storm')
    await first
    let told = 1
    while ((await Promise.race([watching.next().then(() => true), quiet(100)])) === true) told++
    expect(told).toBeLessThanOrEqual(1100)
    await client.close()
  },
)

test.each(WAYS)('C.proto __proto__ in definitions and results changes nothing, over %s', async (way) => {
  const poison = '{"polluted":true,"isError":true,"toString":null}'
  const members = `"__proto__":${poison},"constructor":{"prototype":${poison}}`
  const schema = `{"type":"object","properties":{${members},"x":{"type":"string"}},${members}}`
  const { client } = await meet(way, ({ id, method }, wire) => {
    const results: Record<string, string> = {
      'tools/list': `{"tools":[{"name":"__proto__","inputSchema":${schema},"outputSchema":${schema},"annotations":{${members}},${members}},{"name":"constructor","inputSchema":{}}],${members}}`,
      'tools/call': `{"content":[{"type":"text","text":"x",${members}}],"structuredContent":{${members}},"_meta":{${members}},${members}}`,
      'prompts/get': `{"messages":[],${members}}`,
    }
    const result = results[method ?? '']
    return result === undefined ? false : wire.send(`{"jsonrpc":"2.0","id":${id},"result":${result}}`)
  })
  const names = (await all(client.tools())).map(({ name }) => name)
  expect(names).toEqual(['__proto__', 'constructor'])
  for (const name of [...names, 'toString', 'hasOwnProperty']) {
    const outcome = await client.callRaw(name).catch((error: unknown) => (error as { kind?: string }).kind)
    expect([String.prototype, Object.prototype]).toContain(Object.getPrototypeOf(outcome))
  }
  expect(Object.getPrototypeOf(await client.prompt('__proto__'))).toBe(Object.prototype)
  expect(Object.keys(Object.prototype)).toEqual([])
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  expect(typeof {}.toString).toBe('function')
})

test.each(WAYS)('C.icon icons are not fetched without being asked for, over %s', async (way) => {
  const canary = await web((_, response) => response.end('seen'))
  const icons = [{ src: `${canary.origin}/icon.png`, mimeType: 'image/png', sizes: ['48x48'] }]
  const about = { icons, websiteUrl: canary.origin, name: 'x', version: '1' }
  for (const speaks of ['2026-07-28', EARLIER] as const) {
    const { client } = await meet(
      way,
      ({ id, method }, wire) => {
        if (method === 'initialize' && speaks === EARLIER)
          return wire.reply({
            protocolVersion: speaks,
            capabilities: { tools: {}, prompts: {}, resources: {} },
            serverInfo: about,
          })
        const _meta = { 'io.modelcontextprotocol/serverInfo': about }
        const link = { type: 'resource_link', uri: `${canary.origin}/linked`, name: 'x', icons }
        const results: Record<string, object> = {
          'tools/list': { tools: [tool('icon', { icons, _meta })] },
          'prompts/list': { prompts: [{ name: 'p', icons }] },
          'resources/list': { resources: [{ uri: `${canary.origin}/r`, name: 'r', icons }] },
          'tools/call': { content: [link], _meta },
        }
        const result = results[method ?? '']
        return result === undefined ? false : wire.send(answer(id, result))
      },
      { speaks },
    )
    await all(client.tools())
    await all(client.prompts())
    await all(client.resources())
    await client.call('icon')
  }
  await quiet(50)
  expect(canary.requests).toEqual([])
})

/** An object with very many members, of which a message may have half a million. */
const members = (count: number, value: unknown = 0): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]))

/** The processor time to list a tool. */
async function listingMs(listed: object): Promise<number> {
  const { client } = await meet(
    'memory',
    ({ method }, wire) => method === 'tools/list' && wire.reply({ tools: [listed] }),
  )
  return processorMs(async () => expect(await all(client.tools())).toHaveLength(1))
}

const LISTS = [
  ['tools', 'name', 'tools'],
  ['prompts', 'name', 'prompts'],
  ['resources', 'uri', 'resources'],
  ['templates', 'uriTemplate', 'resourceTemplates'],
] as const

test.each(LISTS)(
  'C.sane %s with more members than any has are left out, with a warning',
  async (kind, key, member) => {
    const warnings: string[] = []
    const item = (at: number, count: number): object => ({ [key]: `x:${at}`, title: 1, ...members(count) })
    const { client } = await meet(
      'memory',
      ({ method }, wire) =>
        method?.endsWith('/list') === true &&
        wire.reply({ [member]: [item(0, 254), item(1, 255), item(2, 120_000)] }),
    )
    client.on('warning', (text) => warnings.push(text))
    const [listed, ...others] = (await all<JsonObject>(client[kind]() as never)) as readonly JsonObject[]
    expect(others).toEqual([])
    expect(Object.keys(listed!)).toEqual([key, ...Object.keys(members(254))])
    expect(warnings).toEqual([
      expect.stringMatching(/^skipped 2 items of .*: they have more than 256 members$/),
    ])
  },
)

test('C.schema-deep a schema with very many parts takes no longer if all of them are deep', async () => {
  let schema: object = { properties: members(120_000, {}) }
  for (let level = 0; level < 60; level++) schema = { not: schema }
  const usual = await listingMs({ ...tool('t'), _meta: members(120_000) })
  const deep = tool('t', { inputSchema: { type: 'object', ...schema } })
  expect(await listingMs(deep)).toBeLessThan(4.5 * usual)
})

test.each(['2026-07-28', EARLIER] as const)(
  'C.values a result with more members than any has is an error before it is copied, at %s',
  async (speaks) => {
    const attack = (count: number) =>
      meet(
        'memory',
        ({ method }, wire) =>
          method === 'tools/list' && wire.reply({ tools: [tool('t')], ttlMs: 60_000, ...members(count) }),
        { speaks },
      )
    expect(await all((await attack(9998)).client.tools())).toHaveLength(1)
    expect(await failure(all((await attack(9999)).client.tools()))).toMatchObject({
      kind: 'bad_answer',
      message: expect.stringContaining('it has more than 10000 members') as string,
    })
    const { client } = await meet(
      'memory',
      ({ method }, wire) => method === 'tools/call' && wire.reply({ content: [], _meta: members(10_001) }),
      { speaks },
    )
    expect(await failure(client.callRaw('t'))).toMatchObject({
      kind: 'bad_answer',
      message: expect.stringContaining('its _meta has more than 10000 members') as string,
    })
  },
)
