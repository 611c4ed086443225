import { expect, onTestFinished, vi } from 'vitest'
import { createServer, McpError, type Context } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Client } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const NOTES: Readonly<Record<string, readonly string[]>> = {
  scenario: ['milk', 'a/b & c', 'ü'],
  other: ['rope'],
}
const notesOf = ({ client }: Context): readonly string[] => NOTES[client.info?.name ?? ''] ?? []

const yielded: number[] = []
const closed: string[] = []

/** Every way to list, between resources that list themselves. */
const app = createServer({ name: 'listing', version: '1', pageSize: 3 })
  .resource('top://first', {}, () => 'first')
  .resource(
    'notes://{id}',
    {
      title: 'Notes',
      description: 'A note',
      mimeType: 'text/plain',
      list: async (ctx) => notesOf(ctx).map((id) => ({ variables: { id }, title: id.toUpperCase() })),
    },
    ({ id }) => `note ${id}`,
  )
  .resource('quiet://{id}', {}, () => 'x')
  .resource('top://middle', {}, () => 'middle')
  .resource(
    'days://{year}/{+day}{?zone,tag*}',
    {
      description: 'A day',
      async *list() {
        try {
          for (let day = 1; day <= 4; day++) {
            yielded.push(day)
            yield {
              variables: {
                year: 2026,
                day: `01/0${day}`,
                ...(day === 2 ? { zone: 'utc', tag: ['a', 'b'] } : {}),
              },
              name: `day-${day}`,
              description: `Day ${day}`,
              mimeType: 'application/json',
              size: day,
              annotations: { priority: 0.5 },
            }
          }
        } finally {
          closed.push('days')
        }
      },
    },
    (variables) => variables,
  )
  .resource('top://last', {}, () => 'last')

async function pages(client: Client): Promise<readonly (readonly JsonObject[])[]> {
  const found: JsonObject[][] = []
  for (let cursor: unknown; ;) {
    const page = await client.get('resources/list', cursor === undefined ? {} : { cursor })
    found.push(page['resources'] as JsonObject[])
    cursor = page['nextCursor']
    if (cursor === undefined) return found
  }
}

const URIS = [
  ['top://first', 'notes://milk', 'notes://a%2Fb%20%26%20c'],
  ['notes://%C3%BC', 'top://middle', 'days://2026/01/01'],
  ['days://2026/01/02?zone=utc&tag=a&tag=b', 'days://2026/01/03', 'days://2026/01/04'],
  ['top://last'],
]

scenario(
  'the resources that templates list come page by page among the others, in the order of registration',
  app,
  async (client) => {
    const found = await pages(client)
    expect(found.map((page) => page.map(({ uri }) => uri))).toEqual(URIS)
  },
)

scenario(
  'every listed resource can be read, and is described by what was listed or by its template',
  app,
  async (client, revision) => {
    const all = (await pages(client)).flat()
    for (const { uri } of all)
      expect(await client.get('resources/read', { uri: uri as string })).toMatchObject({
        contents: [{ uri }],
      })
    const title = (text: string): object => (revision >= '2025-06-18' ? { title: text } : {})
    expect(all[1]).toEqual({
      uri: 'notes://milk',
      name: 'milk',
      description: 'A note',
      mimeType: 'text/plain',
      ...title('MILK'),
    })
    expect(all[6]).toEqual({
      uri: 'days://2026/01/02?zone=utc&tag=a&tag=b',
      name: 'day-2',
      description: 'Day 2',
      mimeType: 'application/json',
      annotations: { priority: 0.5 },
      ...(revision >= '2024-11-05' ? { size: 2 } : {}),
    })
    expect(await client.get('resources/read', { uri: 'notes://a%2Fb%20%26%20c' })).toMatchObject({
      contents: [{ text: 'note a/b & c' }],
    })
  },
)

scenario('a list depends on the caller', app, async (client, _revision, { join }) => {
  const other = await join({ clientInfo: { name: 'other', version: '1' } })
  const notes = async (one: Client): Promise<readonly unknown[]> =>
    (await pages(one)).flat().flatMap(({ uri }) => (String(uri).startsWith('notes:') ? [uri] : []))
  expect(await notes(other)).toEqual(['notes://rope'])
  expect(await notes(client)).toHaveLength(3)
})

scenario('a generator does not run further than a page needs, and is closed', app, async (client) => {
  const first = await client.get('resources/list')
  yielded.length = 0
  closed.length = 0
  await client.get('resources/list', { cursor: first['nextCursor'] as string })
  expect(yielded).toEqual([1, 2])
  expect(closed).toEqual(['days'])
})

scenario(
  'a list of functions is for one caller only, on every page',
  app,
  async (client) => {
    for (let cursor: unknown; ;) {
      const page = await client.request('resources/list', cursor === undefined ? {} : { cursor })
      expect(page).toMatchObject({ cacheScope: 'private', ttlMs: 0 })
      cursor = page['nextCursor']
      if (cursor === undefined) break
    }
    expect(await client.request('resources/templates/list')).toMatchObject({ cacheScope: 'public' })
  },
  { since: '2026-07-28' },
)

scenario(
  'a cursor inside the list of a template survives changes to the other resources',
  () => {
    const list = (): readonly object[] => [1, 2, 3, 4].map((id) => ({ variables: { id } }))
    return createServer({ name: 'cursors', version: '1', pageSize: 2 })
      .resource('top://first', {}, () => 'x')
      .resource('n://{id}', { list: list as never }, () => 'x')
      .resource('top://last', {}, () => 'x')
  },
  async (client, _revision, { app: server }) => {
    const uris = ({ resources }: JsonObject): unknown => (resources as JsonObject[]).map(({ uri }) => uri)
    const first = await client.get('resources/list')
    expect(uris(first)).toEqual(['top://first', 'n://1'])
    const cursor = first['nextCursor'] as string
    server.remove('resource', 'top://first')
    expect(uris(await client.get('resources/list', { cursor }))).toEqual(['n://2', 'n://3'])
    server.disable('resource', 'n://{id}')
    expect(uris(await client.get('resources/list', { cursor }))).toEqual(['top://last'])
    server.enable('resource', 'n://{id}')
    expect(uris(await client.get('resources/list', { cursor }))).toEqual(['n://2', 'n://3'])
    const bare = (text: string): string => btoa(text).replaceAll('=', '')
    for (const odd of [
      'tools:1.1',
      'resources:0.1',
      'resources:1.0',
      'resources:1.',
      'resources:9999999999.1',
      'resources:2.10001',
    ])
      expect((await refusal(client.request('resources/list', { cursor: bare(odd) }))).code).toBe(-32602)
    expect((await refusal(client.request('resources/templates/list', { cursor }))).code).toBe(-32602)
  },
)

const visited: number[] = []

/** Entries that notice when they are looked at, in the ways to list many at once. */
const MANY: readonly (readonly [way: string, visits: number, list: () => unknown])[] = [
  [
    'array',
    1,
    () =>
      new Proxy(
        Array.from({ length: 5000 }, (_, id) => ({ variables: { id: id + 1 } })),
        {
          get(all, key, from) {
            if (typeof key === 'string' && /^[0-9]/.test(key)) visited.push(Number(key) + 1)
            return Reflect.get(all, key, from) as unknown
          },
        },
      ),
  ],
  ['iterable', 4800, () => ids()],
  [
    'asynchronous iterable',
    4800,
    async function* () {
      yield* ids()
    },
  ],
]

function* ids(): Generator<object> {
  for (let id = 1; id <= 5000; id++) {
    visited.push(id)
    yield { variables: { id } }
  }
}

scenario(
  'a cursor deep inside the list of a template costs little',
  () => createServer({ name: 'deep', version: '1', pageSize: 2 }).resource('n://{id}', {}, () => 'x'),
  async (client, _revision, { app: server }) => {
    for (const [way, visits, list] of MANY) {
      server.update('resource', 'n://{id}', { list: list as never })
      const cursor = btoa('resources:1.4797').replaceAll('=', '')
      visited.length = 0
      const clock = vi.spyOn(performance, 'now')
      const { resources } = await client.get('resources/list', { cursor })
      const reads = clock.mock.calls.length
      clock.mockRestore()
      expect((resources as JsonObject[]).map(({ uri }) => uri)).toEqual(['n://4798', 'n://4799'])
      expect([way, visited.length <= visits + 2, reads < 500]).toEqual([way, true, true])
      expect(
        await client.get('resources/list', { cursor: btoa('resources:1.6000').replaceAll('=', '') }),
      ).toEqual({
        resources: [],
      })
    }
  },
)

scenario(
  'a page does not go over all resources again, until they change',
  () => {
    const server = createServer({ name: 'many', version: '1', pageSize: 2 })
    server.resource('n://{id}', { list: () => [{ variables: { id: 1 } }] }, () => 'x')
    for (let at = 0; at < 1000; at++) server.resource(`top://${at}`, {}, () => 'x')
    return server
  },
  async (client, _revision, { app: server }) => {
    const { values } = Map.prototype
    let walks = 0
    Map.prototype.values = function () {
      if (this.size >= 1000) walks++
      return values.call(this) as MapIterator<unknown>
    }
    onTestFinished(() => void (Map.prototype.values = values))
    const last = async (): Promise<unknown> => {
      const { resources } = await client.get('resources/list', {
        cursor: btoa('resources:1000').replaceAll('=', ''),
      })
      return (resources as JsonObject[]).map(({ uri }) => uri)
    }
    expect(await last()).toEqual(['top://999'])
    walks = 0
    expect([await last(), await last(), walks]).toEqual([['top://999'], ['top://999'], 0])
    server.resource('top://1000', {}, () => 'x')
    expect(await last()).toEqual(['top://999', 'top://1000'])
    server.disable('resource', 'top://999')
    expect(await last()).toEqual(['top://1000'])
  },
)

scenario(
  'a template that a caller does not see lists nothing, and a resource of its own comes before what a template lists',
  () => {
    const visible = ({ client }: Context): boolean => client.info?.name === 'admin'
    const list = (): readonly { readonly variables: { readonly id: string } }[] =>
      ['1', '2'].map((id) => ({ variables: { id } }))
    return createServer({ name: 'hides', version: '1' })
      .resource('open://{id}', { list }, () => 'x')
      .resource('secret://{id}', { list, visible }, () => 'x')
      .resource('open://1', { title: 'own' }, () => 'x')
      .resource('open://2', { visible }, () => 'x')
  },
  async (client, _revision, { join }) => {
    const admin = await join({ clientInfo: { name: 'admin', version: '1' } })
    const uris = async (one: Client): Promise<unknown> => (await pages(one)).flat().map(({ uri }) => uri)
    expect(await uris(client)).toEqual(['open://2', 'open://1'])
    expect(await uris(admin)).toEqual(['secret://1', 'secret://2', 'open://1', 'open://2'])
  },
)

const logged: string[] = []
const log = (_level: string, message: string, facts?: JsonObject): void => {
  const { error } = (facts ?? {}) as { error?: { message?: string } }
  logged.push(`${message}: ${error?.message ?? ''}`)
}

const BROKEN: readonly (readonly [list: () => unknown, log: RegExp])[] = [
  [() => Promise.reject(new Error('password is hunter2')), /password is hunter2/],
  [() => undefined, /list must return a list/],
  [() => 'text', /list must return a list/],
  [() => [{ title: 'x' }], /entry 1 of its list: variables is missing/],
  [() => [{ uri: 'n://1' }], /entry 1 of its list: there is no option "uri".*variables/],
  [
    () => [{ variables: {} }],
    /entry 1 of its list: .*"n:\/\/" does not match the template: the variables have no id/,
  ],
  [
    () => [{ variables: { id: '1' } }, { variables: { di: '1' } }],
    /entry 2 .*no variable "di"; did you mean "id"/,
  ],
  [() => [{ variables: { id: '' } }], /does not match the template: a value is empty/],
  [() => [{ variables: { id: '..' } }], /does not match the template/],
  [() => [{ variables: { id: '1' }, titel: 'x' }], /there is no option "titel"; did you mean "title"/],
  [() => [{ variables: { id: '1' }, _meta: { '/x': 1 } }], /_meta key "\/x" cannot be used/],
]

scenario(
  'a list that fails makes the request fail, masked, and the log names the template',
  () =>
    createServer({ name: 'fails', version: '1', log })
      .resource('a://b', {}, () => 'x')
      .resource('n://{id}', {}, () => 'x'),
  async (client, _revision, { app: server }) => {
    for (const [list, words] of BROKEN) {
      logged.length = 0
      server.update('resource', 'n://{id}', { list: list as never })
      const error = await refusal(client.request('resources/list'))
      expect([words, error.code, logged.length]).toEqual([words, -32603, 1])
      expect(error.message).not.toMatch(words)
      expect(logged[0]).toMatch(/^the list of resource "n:\/\/\{id\}" failed: /)
      expect(logged[0]).toMatch(words)
      expect(await client.get('resources/read', { uri: 'n://1' })).toMatchObject({
        contents: [{ text: 'x' }],
      })
    }
    server.update('resource', 'n://{id}', { list: undefined })
    expect(await client.get('resources/list')).toEqual({ resources: [{ uri: 'a://b', name: 'b' }] })
  },
)

scenario(
  'an error that a list throws on purpose reaches the client',
  createServer({ name: 'refuses', version: '1' }).resource(
    'n://{id}',
    {
      list: () => {
        throw new McpError('bad_params', 'log in first')
      },
    },
    () => 'x',
  ),
  async (client) => {
    expect((await refusal(client.request('resources/list'))).message).toBe('log in first')
  },
)

const warnings: string[] = []

scenario(
  'beyond limits.listed, resources are left out, and the log says so once',
  () => {
    warnings.length = 0
    return createServer({
      name: 'endless',
      version: '1',
      pageSize: 3,
      limits: { listed: 5 },
      log: (_level, message) => void warnings.push(message),
    })
      .resource(
        'n://{id}',
        {
          *list() {
            for (let id = 1; ; id++) yield { variables: { id } }
          },
        },
        () => 'x',
      )
      .resource('top://last', {}, () => 'x')
  },
  async (client) => {
    for (let time = 0; time < 2; time++) {
      const uris = (await pages(client)).map((page) => page.map(({ uri }) => uri))
      expect(uris).toEqual([
        ['n://1', 'n://2', 'n://3'],
        ['n://4', 'n://5', 'top://last'],
      ])
    }
    expect(warnings).toEqual([
      'resource "n://{id}" lists more than 5 resources (limits.listed); the others are left out',
    ])
  },
)

scenario(
  'middleware gets a list of its own to change',
  () =>
    createServer({ name: 'wrapped', version: '1' })
      .resource('top://first', { description: 'first' }, () => 'x')
      .resource('n://{id}', { list: () => [{ variables: { id: 1 }, description: 'second' }] }, () => 'x')
      .use('resources/list', async (_context, next) => {
        const result = await next()
        for (const one of result['resources'] as { description: string }[]) one.description += '!'
        return result
      }),
  async (client) => {
    for (let time = 0; time < 2; time++)
      expect(await client.get('resources/list')).toMatchObject({
        resources: [{ description: 'first!' }, { description: 'second!' }],
      })
  },
)

/** What happened in lists that were cancelled, by the id of the request. */
const cancelled = new Map<unknown, { waits: () => void; ended: (yields: number) => void }>()

scenario(
  'a list that is cancelled ends with its next entry',
  createServer({ name: 'cancelled', version: '1', log: () => undefined }).resource(
    'n://{id}',
    {
      async *list(ctx) {
        let yields = 0
        try {
          for (let id = 1; ; id++) {
            yields++
            yield { variables: { id } }
            if (id > 1) continue
            cancelled.get(ctx.id)?.waits()
            await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
          }
        } finally {
          cancelled.get(ctx.id)?.ended(yields)
        }
      },
    },
    () => 'x',
  ),
  async (client) => {
    const id = `cancel-${crypto.randomUUID()}`
    const stop = new AbortController()
    let ended: Promise<number> | undefined
    const waits = new Promise<void>((resolve) => {
      ended = new Promise((end) => cancelled.set(id, { waits: resolve, ended: end }))
    })
    const request = client.request('resources/list', {}, { id, signal: stop.signal })
    request.catch(() => undefined)
    await waits
    stop.abort(new Error('enough'))
    expect(await ended).toBe(2)
    await expect(request).rejects.toThrow('enough')
  },
)
