import { describe, expect, test } from 'vitest'
import { connectAll, type Change, type Grouped } from '../../src/client.ts'
import { createServer, McpError, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { vacantUrl } from '../http-client/peer.ts'
import { all, failure } from './gather.ts'

/** A server whose resources answer with its own name. */
function library(self: string, ...uris: readonly string[]): App {
  const app = createServer({ name: self, version: '1', log: () => undefined })
  for (const uri of uris) app.resource(uri, {}, () => self)
  return app
}

/** A server that offers nothing of what is asked for, in one of several ways. */
const FAILING: Readonly<Record<string, () => App>> = {
  'rejects everything': () => {
    const app = library('broken', 'broken://1')
      .tool('t', {}, () => 't')
      .prompt('p', {}, () => 'p')
    return app.use((_, next) => {
      void next
      throw new Error('broken')
    })
  },
  'offers nothing': () => createServer({ name: 'empty', version: '1' }),
}

const textOf = ({ contents }: { readonly contents: readonly unknown[] }): unknown =>
  (contents[0] as JsonObject | undefined)?.['text']

describe('resources of a group', () => {
  test('are listed with their server, and read from it', async () => {
    const config = {
      a: library('a', 'a://1', 'both://1', 'a://by/{id}'),
      'b c': library('b', 'b://1', 'both://1'),
    }
    await using group = await connectAll(config)
    const listed = (await all(group.resources())).map(({ uri, server }) => [server, uri])
    expect(listed).toEqual([
      ['a', 'a://1'],
      ['a', 'both://1'],
      ['b c', 'b://1'],
      ['b c', 'both://1'],
    ])
    expect(await all(group.templates())).toMatchObject([{ server: 'a', uriTemplate: 'a://by/{id}' }])
    expect(textOf(await group.read('a://1'))).toBe('a')
    expect(textOf(await group.read('b://1'))).toBe('b')
    expect(textOf(await group.read('a://by/7'))).toBe('a')
    for await (const { uri, server } of group.resources())
      expect(textOf(await group.read(uri, { server }))).toBe(server[0])
  })

  test('that no server has are an error, also if the caller gives up when no server has failed', async () => {
    await using group = await connectAll({})
    for (const signal of [undefined, AbortSignal.abort()])
      expect(await failure(group.read('x://1', { signal }))).toMatchObject({ kind: 'bad_option' })
  })

  test('that several servers have are not read from any of them by chance', async () => {
    const config = { a: library('a', 'both://1', 'x://{id}'), b: library('b', 'both://1', 'x://{id}') }
    await using group = await connectAll(config)
    for (const uri of ['both://1', 'x://1']) {
      expect(await failure(group.read(uri))).toMatchObject({
        kind: 'bad_option',
        message: expect.stringContaining("a, b have it; name one of them: { server: 'a' }") as string,
      })
      expect(textOf(await group.read(uri, { server: 'b' }))).toBe('b')
    }
  })

  test('that a server lists are read from it, whatever the templates of others match', async () => {
    const config = { greedy: library('greedy', '{+any}'), b: library('b', 'x://1') }
    await using group = await connectAll(config)
    expect(textOf(await group.read('x://1'))).toBe('b')
    expect(textOf(await group.read('x://2'))).toBe('greedy')
  })

  test('are not read from another server while one cannot say whether it has them', async () => {
    for (const list of ['resources/list', 'resources/templates/list']) {
      const flaky = library('flaky', 'notes://today', 'notes://by/{id}')
      let isDown = false
      flaky.use(list, (_, next) => {
        if (isDown) throw new Error('the database is down')
        return next()
      })
      const config = { flaky, greedy: library('greedy', '{+any}', 'notes://by/{id}') }
      await using group = await connectAll(config)
      isDown = true
      expect(await failure(group.read('notes://by/7'))).toMatchObject({
        kind: 'bad_option',
        message: expect.stringContaining('flaky failed to list resources; name the server') as string,
        cause: expect.any(Error) as Error,
      })
      expect(textOf(await group.read('notes://by/7', { server: 'flaky' }))).toBe('flaky')
    }
  })

  test('that no server has, and servers that do not exist, are answered with a remedy', async () => {
    await using group = await connectAll({ quick: library('q', 'a://1'), away: await vacantUrl() })
    expect(await failure(group.read('b://1'))).toMatchObject({ kind: 'bad_option' })
    expect(await failure(group.read('b://1', { server: 'quick' }))).toMatchObject({
      kind: 'unknown_resource',
    })
    expect(await failure(group.read('a://1', { server: 'quik' }))).toMatchObject({
      message: expect.stringContaining('did you mean "quick"?') as string,
    })
    expect(await failure(group.read('a://1', { server: 'away' }))).toBe(group.failures.get('away'))
    expect(await failure(group.read('a://1', { servr: 'quick' } as never))).toMatchObject({
      kind: 'bad_option',
    })
  })

  test('with templates that begin alike are ambiguous too', async () => {
    const templated = (...templates: readonly string[]): App => {
      const app = library('templated', 'x://{id}')
      const resourceTemplates = templates.map((uriTemplate) => ({ name: 'odd', uriTemplate }))
      return app.use('resources/templates/list', async (_, next) => ({
        ...(await next()),
        resourceTemplates,
      }))
    }
    const a = library('a', 'a://{id}')
    await using group = await connectAll({ odd: templated('', 'a', 'b://{', '}', 'a://2/{x}'), a })
    expect(textOf(await group.read('a://1'))).toBe('a')
    await using greedy = await connectAll({ odd: templated('{+any}'), a })
    expect(await failure(greedy.read('a://1'))).toMatchObject({ kind: 'bad_option' })
  })
})

test.each(Object.entries(FAILING))('a server that %s leaves the others alone', async (_, make) => {
  const good = library('good', 'a://1', 'a://by/{id}')
    .tool('t', {}, () => 'good')
    .prompt('p', {}, () => 'good')
  await using group = await connectAll({ bad: make(), good, away: await vacantUrl() })
  const servers = async (items: AsyncIterable<{ readonly server: string }>): Promise<readonly string[]> =>
    (await all(items)).map(({ server }) => server)
  expect(await servers(group.tools())).toEqual(['good'])
  expect(await servers(group.prompts())).toEqual(['good'])
  expect(await servers(group.resources())).toEqual(['good'])
  expect(await servers(group.templates())).toEqual(['good'])
  expect(await group.call('good__t')).toBe('good')
  expect(textOf(await group.read('a://1', { server: 'good' }))).toBe('good')
})

test('a server without resources, or without templates, has none', async () => {
  const empty = createServer({ name: 'empty', version: '1' })
  const untemplated = library('untemplated', 'b://1').use('resources/templates/list', () => {
    throw new McpError('unknown_method', 'no templates here')
  })
  await using group = await connectAll({ empty, untemplated, good: library('good', 'a://1', 'a://by/{id}') })
  expect(textOf(await group.read('a://1'))).toBe('good')
  expect(textOf(await group.read('a://by/7'))).toBe('good')
})

/** Reads changes until so many came, while something keeps on changing: when watching begins is not visible. */
async function changesOf(
  changes: AsyncGenerator<Grouped<Change>>,
  count: number,
  change: () => void,
): Promise<readonly Grouped<Change>[]> {
  const timer = setInterval(change, 20)
  const seen = new Map<string, Grouped<Change>>()
  try {
    for await (const one of changes) {
      seen.set(JSON.stringify(one), one)
      if (seen.size === count) break
    }
    return [...seen.values()].toSorted((a, b) => a.server.localeCompare(b.server))
  } finally {
    clearInterval(timer)
  }
}

describe.each(REVISIONS)('watching a group at %s', (revision) => {
  test('yields the changes of every server, with its name', async () => {
    const [a, b] = [library('a', 'a://1'), library('b', 'b://1')]
    await using group = await connectAll({ a, b, away: 'http://127.0.0.1:1/mcp' }, { revision })
    let added = 0
    const seen = await changesOf(group.watch({ resources: true }), 2, () => {
      for (const app of [a, b]) app.resource(`new://${++added}`, {}, () => '')
    })
    expect(seen).toEqual([
      { server: 'a', kind: 'resources' },
      { server: 'b', kind: 'resources' },
    ])
  })

  test('watches each resource on the server that has it', async () => {
    const [a, b] = [library('a', 'a://1', 'both://1'), library('b', 'b://1', 'both://1')]
    await using group = await connectAll({ a, b }, { revision })
    const update = (): void => {
      for (const app of [a, b]) for (const uri of ['a://1', 'b://1', 'both://1']) app.updated(uri)
    }
    expect(await changesOf(group.watch({ resources: ['a://1', 'b://1'] }), 2, update)).toEqual([
      { server: 'a', kind: 'resource', uri: 'a://1' },
      { server: 'b', kind: 'resource', uri: 'b://1' },
    ])
    expect(await changesOf(group.watch({ server: 'b', resources: ['both://1'] }), 1, update)).toEqual([
      { server: 'b', kind: 'resource', uri: 'both://1' },
    ])
    expect(await failure(group.watch({ resources: ['both://1'] }).next())).toMatchObject({
      kind: 'bad_option',
    })
  })
})

describe('watching a group', () => {
  test('lists the resources of each server once, however many are watched', async () => {
    let lists = 0
    const counted = library('a', 'a://1', 'a://2', 'a://3', 'x://{id}').use(async (request, next) => {
      if (request.method.endsWith('/list')) lists++
      return next()
    })
    await using group = await connectAll({ a: counted, b: library('b', 'b://1') })
    const stop = new AbortController()
    const resources = ['a://1', 'a://2', 'a://3', 'b://1', 'x://1', 'x://2']
    await all(group.watch({ resources, signal: stop.signal, onReady: () => stop.abort() }))
    // One of resources, and one of templates.
    expect(lists).toBe(2)
  })

  test.each(REVISIONS)(
    'misses nothing once all servers but failing ones are ready, at %s',
    async (revision) => {
      const [a, b] = [library('a', 'a://1'), library('b', 'b://1')]
      const c = library('c', 'c://1')
      for (const method of ['resources/subscribe', 'subscriptions/listen'] as const)
        c.use(method, () => {
          throw new McpError('bad_params', 'no')
        })
      await using group = await connectAll({ a, b, c }, { revision })
      let ready = 0
      const seen: unknown[] = []
      const onReady = (): void => {
        ready++
        a.updated('a://1')
        b.updated('b://1')
      }
      for await (const { server } of group.watch({ resources: ['a://1', 'b://1', 'c://1'], onReady })) {
        seen.push(server)
        if (seen.length === 2) break
      }
      expect(new Set(seen)).toEqual(new Set(['a', 'b']))
      expect(ready).toBe(1)
      const onNever = (): void => void ready++
      const failing = group.watch({ server: 'c', resources: ['c://1'], onReady: onNever })
      expect(await failure(failing.next())).toMatchObject({ kind: 'bad_params' })
      expect(ready).toBe(1)
    },
  )

  test('goes on if onReady throws or rejects, with a warning, whichever server decides that the group is ready', async () => {
    for (const onReady of [
      (): never => {
        throw new Error('no')
      },
      (): Promise<never> => Promise.reject(new Error('no')),
    ]) {
      const [good, late] = [library('good', 'a://1'), library('late', 'b://1')]
      let fail = (): void => undefined
      const failed = new Promise<void>((resolve) => (fail = resolve))
      late.use('subscriptions/listen', async () => {
        await failed
        throw new McpError('bad_params', 'no')
      })
      good.use('subscriptions/listen', (_, next) => (setImmediate(fail), next()))
      await using group = await connectAll({ good, late })
      const warned = new Promise<string>((resolve) => {
        for (const client of group.clients.values())
          client.on('warning', (text) => {
            // That the other server is left out is another warning.
            if (!text.startsWith('a loop of the group lacks the changes of "late"')) resolve(text)
          })
      })
      const watching = group.watch({ resources: ['a://1', 'b://1'], onReady: onReady as () => void })
      const change = watching.next()
      expect(await warned).toBe('onReady threw Error: no')
      good.updated('a://1')
      expect(await change).toMatchObject({ value: { server: 'good' } })
      await watching.return()
    }
  })

  test('goes on without a server that fails, and fails when all do', async () => {
    const good = library('good', 'a://1')
    // Without resources, subscribing is an error at this revision.
    const bare = createServer({ name: 'bare', version: '1' })
    bare.intercept('resources/list', () => ({ resources: [{ uri: 'b://1', name: 'b' }] }))
    await using group = await connectAll({ bare, good }, { revision: '2025-11-25' })
    const watched = { tools: true, resources: ['a://1'] }
    const seen = await changesOf(group.watch(watched), 1, () => good.updated('a://1'))
    expect(seen).toEqual([{ server: 'good', kind: 'resource', uri: 'a://1' }])
    const failing = group.watch({ server: 'bare', resources: ['b://1'] })
    expect(await failure(failing.next())).toMatchObject({ kind: 'not_offered' })
  })

  test('ends with its signal, with its loop, and when the group closes', async () => {
    const app = library('a', 'a://1')
    const group = await connectAll({ a: app, b: library('b', 'b://1') })
    const stop = new AbortController()
    const watching = all(group.watch({ tools: true, signal: stop.signal }))
    stop.abort()
    expect(await watching).toEqual([])
    expect(await all(group.watch({ tools: true, signal: stop.signal }))).toEqual([])
    const closed = all(group.watch({ tools: true }))
    await group.close()
    expect(await closed).toEqual([])
  })

  test('rejects options it does not know', async () => {
    await using group = await connectAll({ a: library('a', 'a://1') })
    for (const odd of [{ tool: true }, { resources: 'a://1' }, { server: 'b', tools: true }])
      expect(await failure(group.watch(odd as never).next())).toMatchObject({ kind: 'bad_option' })
  })
})
