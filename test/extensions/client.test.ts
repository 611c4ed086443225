import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { connect, createClient } from 'pierhead/client'
import { createServer, type Running } from 'pierhead'
import { defineExtension, health, subscriptions, toolCompletion, toolStream } from 'pierhead/extensions'
import { everyRevision, testClient } from 'pierhead/testing'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { bundleSplit } from '../../tools/size/bundle.ts'
import { tap } from '../client/tap.ts'

const tides = defineExtension({
  id: 'com.example/tides',
  methods: {
    next: {
      params: z.object({ harbour: z.string(), at: z.iso.date().optional() }),
      result: z.object({ high: z.number() }),
    },
    odd: { result: z.object({ high: z.number() }) },
    slow: {},
  },
  serve: (_options: undefined) => ({
    next: ({ harbour }) => ({ high: harbour.length }),
    odd: () => ({ high: 'very' }) as never,
    slow: async (_params, { progress, signal }) => {
      for (let at = 1; at <= 3 && !signal.aborted; at++) progress(at, 3)
      return { done: true }
    },
  }),
})

function createHarbour() {
  return createServer({ name: 'harbour', version: '1' })
    .tool('count', {}, function* () {
      yield 'one'
      yield 'two'
    })
    .extend(tides)
    .extend(health)
    .extend(toolStream)
}

const ALL = [tides, health, toolStream]
let running: Promise<Running> | undefined

everyRevision((revision) => {
  test(`a client uses the extensions that both sides declared, over HTTP and TCP at ${revision} [S2-15-10]`, async () => {
    running ??= createHarbour().listen({ http: { port: 0 }, tcp: { port: 0 } })
    const { url, addresses } = await running
    for (const target of [url, addresses.tcp]) {
      const client = await connect(target as string, { extensions: ALL, revision })
      expect(await tides.of(client).next({ harbour: 'four' })).toEqual({ high: 4 })
      expect(await health.of(client).status()).toMatchObject({ status: 'ok' })
      const pieces = []
      for await (const piece of toolStream.of(client).stream('count')) pieces.push(piece)
      expect(pieces).toHaveLength(2)
      await client.close()
    }
  })

  test(`a client declares its extensions where the revision has a place for them, at ${revision}`, async () => {
    const server = tap(createHarbour())
    const options = { extensions: [tides, { id: 'com.example/x', settings: { level: 2 } }], revision }
    const client = await connect(server, options)
    await tides.of(client).next({ harbour: 'x' })
    const named = { 'com.example/tides': {}, 'com.example/x': { level: 2 } }
    const isNewest = revision === '2026-07-28'
    const declared = isNewest ? { 'io.modelcontextprotocol/tasks': {}, ...named } : named
    const sent = server.sent()
    expect(sent.length).toBeGreaterThan(1)
    for (const message of sent) {
      const { method, params } = message as { method: string; params?: Record<string, never> }
      const envelope = params?.['_meta']?.['io.modelcontextprotocol/clientCapabilities']
      const capabilities = method === 'initialize' ? params?.['capabilities'] : envelope
      const place = isNewest ? 'extensions' : 'experimental'
      const says = isNewest || method === 'initialize'
      expect(capabilities).toEqual(says ? { [place]: declared } : undefined)
    }
    await client.close()
  })
})

afterAll(async () => (await running)?.close())

test('a client that declares nothing declares only that calls may be tasks, at 2026-07-28', async () => {
  for (const revision of REVISIONS) {
    const server = tap(createHarbour())
    const client = await connect(server, { revision })
    await client.callRaw('count')
    const sent = JSON.stringify(server.sent())
    const tasks = '"extensions":{"io.modelcontextprotocol/tasks":{}}'
    expect(sent.includes(tasks)).toBe(revision === '2026-07-28')
    expect(sent.replaceAll(tasks, '')).not.toMatch(/experimental|extensions/)
    await client.close()
  }
})

test('an extension that the server does not have, or the client did not declare, is refused with what to do', async () => {
  const app = createHarbour()
  const client = await connect(app, { extensions: [tides] })
  await expect(subscriptions.of(client).list()).rejects.toThrow('dev.pierhead/subscriptions')
  await expect(subscriptions.of(client).list()).rejects.toMatchObject({ kind: 'not_offered' })
  const complete = toolCompletion.of(client).complete('count', { name: 'x', value: '' })
  await expect(complete).rejects.toMatchObject({ kind: 'not_offered' })
  await expect(health.of(client).status()).rejects.toThrow(
    'declare capabilities.extensions["dev.pierhead/health"]',
  )
  await expect(toolStream.of(client).stream('count').next()).rejects.toThrow('did not declare')
  await client.close()
})

test('where HTTP keeps no sessions, clients of older revisions have no way to declare anything', async () => {
  const app = createHarbour()
  const serve = app.fetchWith({ sessions: false })
  const options = {
    extensions: ALL,
    fetch: ((input, init) => serve(new Request(input as string, init))) as typeof fetch,
  }
  const old = await connect('http://localhost/mcp', { ...options, revision: '2025-11-25' })
  await expect(health.of(old).status()).rejects.toMatchObject({ code: -32601 })
  await old.close()
  const newest = await connect('http://localhost/mcp', { ...options, revision: '2026-07-28' })
  expect(await health.of(newest).status()).toMatchObject({ status: 'ok' })
  await newest.close()
  await app.close()
})

test('an answer that breaks the schema of its method is refused', async () => {
  const client = await connect(createHarbour(), { extensions: [tides] })
  await expect(tides.of(client).odd()).rejects.toMatchObject({ kind: 'bad_answer' })
  await expect(tides.of(client).next({ harbour: 'x', at: 'soon' })).rejects.toMatchObject({
    kind: 'bad_params',
    code: -32602,
  })
  await client.close()
})

test('a method takes the options of a request: progress, signals, time', async () => {
  const client = await connect(createHarbour(), { extensions: [tides] })
  const steps: unknown[] = []
  const { done } = await tides.of(client).slow({}, { onProgress: ({ progress }) => steps.push(progress) })
  expect([done, steps]).toEqual([true, [1, 2, 3]])
  const aborted = tides.of(client).slow({}, { signal: AbortSignal.abort() })
  await expect(aborted).rejects.toThrow('the request was cancelled')
  await client.close()
})

test('a test client declares extensions too', async () => {
  await using client = await testClient(createHarbour(), { extensions: [tides], revision: '2025-06-18' })
  expect(await tides.of(client).next({ harbour: 'abc' })).toEqual({ high: 3 })
})

test('anything but a list of extensions is rejected', () => {
  const app = createHarbour()
  for (const extensions of [tides, {}, [{}], ['com.example/x'], [null]])
    expect(() => createClient(app, { extensions: extensions as never })).toThrow(
      'connect: extensions must be a list of extensions, such as [health]',
    )
})

test('a client that uses an extension loads no part of a server', async () => {
  const text = `
    import { connect } from 'pierhead/client'
    import { health, toolStream, apps, subscriptions, toolCompletion } from 'pierhead/extensions'
    globalThis.used = [connect, health, toolStream, apps, subscriptions, toolCompletion]
  `
  const { inputs, imports, nodeGlobals } = await bundleSplit({ text, platform: 'browser', from: 'source' })
  const server = inputs.filter((file) => /^src\/(server|schema)\//.test(file)).toSorted()
  expect(server).toEqual(['src/server/later.ts'])
  expect([imports, nodeGlobals]).toEqual([[], []])
})
