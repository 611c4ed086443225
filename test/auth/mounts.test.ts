import { describe, expect, onTestFinished, test } from 'vitest'
import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { apiKeys, bearer, digestApiKey } from '../../src/auth.ts'
import type { App, MountOptions } from '../../src/index.ts'
import { headed } from '../http/messages.ts'
import { as, callTool, listen, people, server, textOf } from './server.ts'

/** Asks a mount who calls; gives the caller or the status. */
type Ask = (headers?: Record<string, string>) => Promise<string | number>

const MOUNTS: Readonly<Record<string, (app: App, options?: MountOptions) => Promise<Ask>>> = {
  'app.node': async (app, options) => {
    const http = createHttp(express().use('/mcp', app.node(options))).listen(0, '127.0.0.1')
    await new Promise((resolve) => http.once('listening', resolve))
    onTestFinished(() => void http.close())
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
    return async (headers) => answer(await callTool(url, 'who', headers))
  },
  'app.fetchWith': async (app, options = {}) => {
    const handle = app.fetchWith(options)
    return async (headers = {}) => {
      const { body, headers: own } = callOf()
      const init = { method: 'POST', body, headers: { ...own, ...headers } }
      return answer(await handle(new Request('http://localhost/mcp', init)))
    }
  },
}

function callOf(): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  return headed('tools/call', { name: 'who' })
}

async function answer(reply: Response): Promise<string | number> {
  return reply.ok ? textOf(reply) : reply.status
}

describe.each(Object.entries(MOUNTS))('%s', (_, mount) => {
  test('mounts with and without auth are different, in either order', async () => {
    const app = server()
    const auth = people()
    const [open, closed, again] = [await mount(app), await mount(app, { auth }), await mount(app)]
    expect([await open(), await closed(), await again()]).toEqual(['nobody', 401, 'nobody'])
    expect(await closed(as('ann'))).toBe('ann')
    const other = server()
    const [first, second] = [await mount(other, { auth }), await mount(other)]
    expect([await first(), await second()]).toEqual([401, 'nobody'])
  })

  test('mounts are told apart by the identity of their methods, and each has its own', async () => {
    const app = server()
    const one = await mount(app, { auth: bearer((token) => (token === 'one' ? { sub: '1' } : undefined)) })
    const two = await mount(app, { auth: bearer((token) => (token === 'two' ? { sub: '2' } : undefined)) })
    expect([await one(as('one')), await one(as('two'))]).toEqual(['1', 401])
    expect([await two(as('one')), await two(as('two'))]).toEqual([401, '2'])
  })

  test('the default of the server counts, unless the mount has its own or none', async () => {
    const app = server(people())
    const own = bearer((token) => (token === 'own' ? { sub: 'own' } : undefined))
    const [usual, others, none] = [
      await mount(app),
      await mount(app, { auth: own }),
      await mount(app, { auth: false }),
    ]
    expect([await usual(), await usual(as('ann')), await usual(as('own'))]).toEqual([401, 'ann', 401])
    expect([await others(), await others(as('ann')), await others(as('own'))]).toEqual([401, 401, 'own'])
    expect([await none(), await none(as('ann'))]).toEqual(['nobody', 'nobody'])
  })

  test('the methods of a list are tried in order', async () => {
    const keys = apiKeys({ digests: { [await digestApiKey('a-long-key')]: 'key' } })
    const first = bearer((token) => (token === 'ann' ? { sub: 'first' } : undefined))
    const ask = await mount(server(), { auth: [first, people(), keys] })
    expect([await ask(as('ann')), await ask(as('bob')), await ask(as('a-long-key'))]).toEqual([
      'first',
      'bob',
      'key',
    ])
    expect([await ask(as('mallory')), await ask()]).toEqual([401, 401])
  })
})

test('the same options give the same mount, so that sessions are kept', () => {
  const app = server()
  const auth = people()
  expect(app.node({ auth })).toBe(app.node({ auth }))
  expect(app.node({ auth: [auth] })).toBe(app.node({ auth: [auth] }))
  expect(app.node({ auth })).not.toBe(app.node())
  expect(app.node({ auth: false })).not.toBe(app.node({ auth }))
  expect(app.fetchWith({ auth })).not.toBe(app.fetchWith({ auth: people() }))
})

test('app.fetch, which runtimes call, has the default of the server', async () => {
  const { body, headers } = callOf()
  const ask = (more: Record<string, string>): Promise<Response> =>
    app.fetch(new Request('http://localhost/mcp', { method: 'POST', body, headers: { ...headers, ...more } }))
  const app = server(people())
  expect((await ask({})).status).toBe(401)
  expect(await textOf(await ask(as('ann')))).toBe('ann')
})

test('a caller that the framework authenticated counts on mounts without auth only', async () => {
  const { body, headers } = callOf()
  const request = (): Request => new Request('http://localhost/mcp', { method: 'POST', body, headers })
  const open = server(people()).fetchWith({ auth: false })
  expect(await textOf(await open(request(), { auth: { sub: 'framework' } }))).toBe('framework')
  expect(await textOf(await open(request(), { auth: null as never }))).toBe('nobody')
  // The second argument may be the environment of a Worker, with a binding of that name.
  const handle = server(people()).fetchWith({})
  for (const auth of [{ sub: 'framework' }, {}, null, false, 'secret'])
    expect((await handle(request(), { auth: auth as never })).status).toBe(401)
})

test('a listener may have other methods than the server, or none', async () => {
  const none = await listen(people(), { auth: false })
  expect(await textOf(await callTool(none.url, 'who'))).toBe('nobody')
  const own = await listen(people(), { auth: bearer(() => ({ sub: 'anyone' })) })
  expect(await textOf(await callTool(own.url, 'who', as('x')))).toBe('anyone')
})

test('health checks are open to everyone', async () => {
  const { url } = await listen(people())
  expect((await fetch(new URL('/healthz', url))).status).toBe(200)
  expect((await fetch(new URL('/readyz', url))).status).toBe(200)
})

test('endpoints of plug-ins serve everyone, and know who calls', async () => {
  const app = server(people())
  app.use({ endpoints: { '/hello': (_, { auth }) => new Response(`hello ${auth?.sub ?? 'stranger'}`) } })
  const { url } = await app.listen({ http: { port: 0 }, onUncaught: 'exit' })
  onTestFinished(() => app.close())
  const hello = async (headers: Record<string, string>): Promise<string> =>
    (await fetch(new URL('/hello', url), { headers })).text()
  expect(await hello({})).toBe('hello stranger')
  expect(await hello(as('ann'))).toBe('hello ann')
  expect(await hello(as('mallory'))).toBe('hello stranger')
})

test('methods with different resources cannot be combined, wherever they are given', async () => {
  const auth = [
    people({ resource: 'https://one.example/mcp' }),
    people({ resource: 'https://two.example/mcp' }),
  ]
  const problem = 'the methods of auth have different resources'
  expect(() => server(auth)).toThrow(problem)
  expect(() => server().node({ auth })).toThrow(problem)
  expect(() => server().fetchWith({ auth })).toThrow(problem)
  await expect(server().listen({ http: { port: 0, auth } })).rejects.toThrow(problem)
  await expect(server().listen({ ws: { port: 0, auth } })).rejects.toThrow(problem)
})
