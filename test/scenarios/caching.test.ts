import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'

const METHODS = [
  ['tools/list', {}],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['prompts/list', {}],
  ['resources/read', { uri: 'a://b' }],
] as const

function make(options: { ttl?: string; visible?: () => boolean } = {}): ReturnType<typeof createServer> {
  const { ttl, visible } = options
  const guarded = visible === undefined ? {} : { visible }
  return createServer({
    name: 'cached',
    version: '1',
    pageSize: 1,
    ...(ttl === undefined ? {} : { ttl: ttl as '1m' }),
  })
    .tool('one', guarded, () => 1)
    .tool('two', {}, () => 2)
    .resource('a://b', guarded, () => 'x')
    .resource('a://{c}/d', guarded, () => 'x')
    .prompt('one', guarded, () => 'x')
}

scenario(
  'six results say how long and by whom they may be kept [R231]',
  make({ ttl: '1m' }),
  async (client) => {
    for (const [method, params] of METHODS) {
      const { ttlMs, cacheScope } = await client.request(method, params)
      expect({ method, ttlMs, cacheScope }).toEqual({
        method,
        ttlMs: 60_000,
        cacheScope: method === 'resources/read' ? 'private' : 'public',
      })
    }
    expect(await client.request('server/discover')).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' })
    const called = await client.request('tools/call', { name: 'one' })
    expect(Object.keys(called)).not.toContain('ttlMs')
    expect(Object.keys(called)).not.toContain('cacheScope')
  },
  { since: '2026-07-28' },
)

scenario(
  'without a time they are kept for none, and lists that depend on the caller are private on every page [R231] [R234]',
  make({ visible: () => true }),
  async (client) => {
    for (const [method, params] of METHODS) {
      expect(await client.request(method, params)).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
    }
    const { nextCursor } = await client.request('tools/list')
    expect(await client.request('tools/list', { cursor: nextCursor })).toMatchObject({
      cacheScope: 'private',
    })
  },
  { since: '2026-07-28' },
)

scenario(
  'a time or a scope that cannot be sent is not [R231]',
  () => {
    const app = createServer({ name: 'own', version: '1', ttl: '2s' })
    for (const [at, odd] of [-5, 1.5, Number.NaN, Infinity, '60', null].entries())
      app.resource(`a://${at}`, {}, () => ({
        contents: [{ uri: `a://${at}`, text: 'x' }],
        ttlMs: odd,
        cacheScope: 'everybody',
      }))
    return app
  },
  async (client) => {
    for (let at = 0; at < 6; at++) {
      const { ttlMs, cacheScope } = await client.request('resources/read', { uri: `a://${at}` })
      expect([at, ttlMs, cacheScope]).toEqual([at, 2000, 'private'])
    }
  },
  { since: '2026-07-28' },
)

scenario(
  'every page of a list has the scope of the others [R234]',
  () => {
    const app = createServer({ name: 'pages', version: '1', pageSize: 1 })
    for (const [at, options] of [{}, { visible: () => true }, {}].entries())
      app
        .tool(`t${at}`, {}, () => 1)
        .prompt(`p${at}`, options, () => 'x')
        .resource(`r://${at}`, {}, () => 'x')
        .resource(`t${at}://{x}`, options, () => 'x')
    return app
  },
  async (client) => {
    for (const [method, scope] of [
      ['tools/list', 'public'],
      ['prompts/list', 'private'],
      ['resources/list', 'public'],
      ['resources/templates/list', 'private'],
    ] as const) {
      const scopes: unknown[] = []
      for (let cursor: unknown; ;) {
        const page = await client.request(method, cursor === undefined ? {} : { cursor })
        scopes.push(page['cacheScope'])
        cursor = page['nextCursor']
        if (cursor === undefined) break
      }
      expect([method, scopes]).toEqual([method, [scope, scope, scope]])
    }
  },
  { since: '2026-07-28' },
)

scenario(
  'a resource may say its own time and scope [R231]',
  createServer({ name: 'own', version: '1' }).resource('a://b', {}, () => ({
    contents: [{ uri: 'a://b', text: 'x' }],
    ttlMs: 5,
    cacheScope: 'public',
  })),
  async (client, revision) => {
    const { ttlMs, cacheScope, contents } = await client.request('resources/read', { uri: 'a://b' })
    expect(contents).toEqual([{ uri: 'a://b', text: 'x' }])
    expect([ttlMs, cacheScope]).toEqual(revision === '2026-07-28' ? [5, 'public'] : [undefined, undefined])
  },
)

scenario(
  'a resource that is not for everybody is never public, whatever it says itself',
  () => {
    const own = (): object => ({ contents: [{ text: 'x' }], cacheScope: 'public' })
    return createServer({ name: 'own', version: '1' })
      .resource('a://visible', { visible: () => true }, own)
      .resource('a://by/{name}', { visible: () => true }, own)
      .resource('a://open', {}, own)
  },
  async (client) => {
    const scopeOf = async (uri: string): Promise<unknown> =>
      (await client.request('resources/read', { uri }))['cacheScope']
    expect(await scopeOf('a://visible')).toBe('private')
    expect(await scopeOf('a://by/ann')).toBe('private')
    expect(await scopeOf('a://open')).toBe('public')
  },
  { only: ['2026-07-28'] },
)

scenario(
  'earlier revisions never see these hints [R231] [S0-6.1]',
  make({ ttl: '1m' }),
  async (client) => {
    for (const [method, params] of METHODS) {
      const keys = Object.keys(await client.request(method, params))
      expect(keys).not.toContain('ttlMs')
      expect(keys).not.toContain('cacheScope')
    }
  },
  { until: '2025-11-25' },
)
