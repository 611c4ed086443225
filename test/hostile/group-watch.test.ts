import { expect, test } from 'vitest'
import { findOwners } from '../../src/app/connect/owners.ts'
import { watchAll } from '../../src/app/connect/watch-all.ts'
import { connectAll, Group, type Client } from '../../src/client.ts'
import type { Watched } from '../../src/client/watched.ts'
import { createServer, type App } from '../../src/index.ts'
import { processorMs } from '../harness/processor.ts'
import { failure, meet } from './peer.ts'

const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at))

/** A client whose server lists no resources, but these templates. */
function templated(templates: readonly string[]): ReadonlyMap<string, Client> {
  const client = {
    async *resources() {},
    async *templates() {
      for (const uriTemplate of templates) yield { uriTemplate }
    },
  } as unknown as Client
  return new Map([['hostile', client]])
}

/** In texts of this character, engines search for a brace very slowly: one of its bytes is that of a brace. */
const SLOW = '\u7b2c'.repeat(8000)

test('templates are not compared with each of many URIs', async () => {
  const clients = templated(times(200, (at) => `${SLOW}${at}{x}`))
  const cost = (count: number): Promise<number> => {
    const uris = times(count, (at) => `x://${at}`)
    return processorMs(async () => expect((await findOwners(clients, uris, () => ({}))).owners.size).toBe(0))
  }
  await cost(1)
  expect(await cost(200)).toBeLessThan(15 * (await cost(1)))
})

test('a URI belongs to the servers with a template that begins like it, in their order', async () => {
  const [a, b] = ['{+any}', 'x://1{?q}'].map((template) => templated([template, 'x://', 'y{']).get('hostile'))
  const clients = new Map([
    ['b', b as Client],
    ['a', a as Client],
  ])
  const { owners, failures } = await findOwners(clients, ['x://2', 'x://1', 'x://10', 'x://1'], () => ({}))
  expect(Object.fromEntries(owners)).toEqual({ 'x://1': ['b', 'a'], 'x://10': ['b', 'a'], 'x://2': ['a'] })
  expect(failures.size).toBe(0)
})

test('others get a turn while long templates are read', async () => {
  let turns = 0
  const count = (): void => {
    turns++
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  await findOwners(templated(times(600, () => SLOW)), ['x://1'], () => ({}))
  clearImmediate(timer)
  expect(turns).toBeGreaterThanOrEqual(10)
})

test('others get a turn while a group reads the names of a long list again', async () => {
  const items = times(20_000, (at) => ({ name: `t.${at}` }))
  let lists = 0
  const client = { tools: () => ({ toArray: async () => (lists++, items) }) } as unknown as Client
  const group = new Group(new Map([['a', client]]), new Map())
  const turnsOf = async (): Promise<number> => {
    let turns = 0
    const count = (): void => {
      turns++
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    await group.tools().next()
    clearImmediate(timer)
    return turns
  }
  const first = await turnsOf()
  expect(await turnsOf()).toBeGreaterThanOrEqual(first + 10)
  expect(lists).toBe(2)
})

/** Watches resources of 40 servers, which have them by number. Returns what each client is asked to watch. */
async function asked(count: number, ownerOf: (at: number) => number): Promise<Map<string, Watched>> {
  const parts = new Map<string, Watched>()
  const clients = times(40, (at): [string, Client] => {
    const end = async (): Promise<object> => ({ done: true })
    const watch = (watched: Watched): object => {
      parts.set(String(at), watched)
      return { next: end, return: end }
    }
    return [String(at), { watch } as unknown as Client]
  })
  const owners = new Map(times(count, (at) => [`x:${at}`, String(ownerOf(at))]))
  for await (const _ of watchAll(new Map(clients), { resources: [...owners.keys()] }, async () => owners))
    throw new Error('nothing changes')
  return parts
}

test('resources are divided among their servers in the time that reading them takes', async () => {
  const cost = (ownerOf: (at: number) => number): Promise<number> => processorMs(() => asked(40_000, ownerOf))
  const alike = (at: number): number => at % 40
  await cost(alike)
  const usual = await cost(alike)
  expect(await cost(() => 0)).toBeLessThan(6 * usual)
  const parts = await asked(3, (at) => at % 2)
  expect([...parts].map(([server, { resources }]) => [server, resources])).toEqual([
    ['0', ['x:0', 'x:2']],
    ['1', ['x:1']],
  ])
})

test('more than a thousand resources of one server are not watched', async () => {
  const uris = times(1001, (at) => `note://${at}`)
  const { client, count } = await meet('memory', () => false)
  const error = await failure(client.watch({ resources: uris }).next())
  expect(error).toMatchObject({ kind: 'bad_option' })
  expect(error.message).toContain('name at most 1000 resources for each server')
  const group = new Group(new Map([['a', client]]), new Map())
  expect(await failure(group.watch({ resources: uris }).next())).toMatchObject({ kind: 'bad_option' })
  expect(count('resources/list') + count('subscriptions/listen')).toBe(0)
})

/** A server with this many resources of its own. */
function library(name: string, count: number): App {
  const app = createServer({ name, version: '1', log: () => undefined })
  for (let at = 0; at < count; at++) app.resource(`${name}://${at}`, {}, () => '')
  return app
}

test('of a group, a server with too many resources is left out with a warning', async () => {
  const good = library('good', 1)
  await using group = await connectAll({ large: library('large', 1001), good })
  const warnings: string[] = []
  group.clients.get('large')?.on('warning', (text) => warnings.push(text))
  const uris = (await group.resources().toArray()).map(({ uri }) => uri)
  expect(uris).toHaveLength(1002)
  const onReady = (): void => good.updated('good://0')
  for await (const change of group.watch({ resources: uris, onReady })) {
    expect(change).toEqual({ kind: 'resource', uri: 'good://0', server: 'good' })
    break
  }
  expect(warnings).toEqual([
    expect.stringMatching(/^a loop of the group lacks the changes of "large": .*name at most 1000 resources/),
  ])
})
