import { expect, onTestFinished, test } from 'vitest'
import { Deferred } from '../../src/base/deferred.ts'
import type { Authorization } from '../../src/transport/http/client/auth-method.ts'
import type { Vault } from '../../src/auth-client.ts'
import { record } from './engine-issuer.ts'
import { callTool, openAuth } from './engine-server.ts'
import { DESK, expire, startWorld } from './engine-world.ts'

test('a login is aborted when nobody waits any more, and the next call starts another', async () => {
  const { server, login, open } = await startWorld()
  const shown = new Deferred<AbortSignal>()
  const stuck = new Deferred<undefined>()
  let isFirst = true
  const auth = login({
    open: (page, { signal }) => {
      if (!isFirst) return open(page)
      isFirst = false
      shown.resolve(signal)
      return stuck.promise
    },
  })
  const client = openAuth(auth, server.url)
  const [one, two] = [new AbortController(), new AbortController()]
  const calls = [one, two].map(({ signal }) => callTool(client, server.url, 'who', { signal }))
  const failed = Promise.allSettled(calls)
  const over = await shown.promise
  one.abort(new Error('the first is tired'))
  await expect(calls[0]).rejects.toThrow('the first is tired')
  expect(over.aborted).toBe(false)
  const ended = new Promise((resolve) => over.addEventListener('abort', resolve))
  two.abort(new Error('the second as well'))
  await ended
  await failed
  expect(await callTool(client, server.url, 'who')).toBe('ann notes:read')
})

test('a client that closes aborts its login', async () => {
  const { server, login } = await startWorld()
  const shown = new Deferred<AbortSignal>()
  const auth = login({
    open: (_, { signal }) => {
      shown.resolve(signal)
      return new Promise(() => undefined)
    },
  })
  const client = openAuth(auth, server.url)
  const call = callTool(client, server.url, 'who')
  call.catch(() => undefined)
  const signal = await shown.promise
  client.close?.()
  await expect(call).rejects.toMatchObject({ kind: 'login_failed' })
  expect(signal.aborted).toBe(true)
})

test('clocks of all calls that wait for a person stop until the person is done, but not for a refresh', async () => {
  const { server, vault, login, open } = await startWorld()
  const events: string[] = []
  const pause = (): (() => void) => {
    events.push('pause')
    return () => void events.push('resume')
  }
  const others: Promise<string>[] = []
  const client = openAuth(
    login({
      open: async (page) => {
        expect(events).toEqual(['pause'])
        // A call that comes while the login runs waits as well.
        others.push(callTool(client, server.url, 'who', { pause }))
        await expect.poll(() => events).toEqual(['pause', 'pause'])
        return open(page)
      },
    }),
    server.url,
  )
  expect(await callTool(client, server.url, 'who', { pause })).toBe('ann notes:read')
  expect(await Promise.all(others)).toEqual(['ann notes:read'])
  expect(events).toEqual(['pause', 'pause', 'resume', 'resume'])
  await expire(vault)
  await callTool(openAuth(login(), server.url), server.url, 'who', { pause })
  expect(events).toHaveLength(4)
})

test('a login times out', async () => {
  const { server, login } = await startWorld()
  const auth = login({ timeout: '20ms', open: () => new Promise(() => undefined) })
  const error = await callTool(openAuth(auth, server.url), server.url, 'who').catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toMatchObject({ kind: 'login_failed', message: expect.stringContaining('nobody logged in') })
})

test('nobody is asked to log in for the end of a session', async () => {
  const { server, login, pages } = await startWorld()
  const client = openAuth(login(), server.url)
  const { signal } = new AbortController()
  const reply = await client.attempt({ verb: 'DELETE', url: server.url, signal }, (headers) =>
    fetch(server.url, { method: 'DELETE', headers: { ...headers } }),
  )
  expect(reply.status).toBe(401)
  expect(pages).toEqual([])
})

test('a request to another origin has no credentials', async () => {
  const { server, login } = await startWorld()
  const client = openAuth(login(), server.url)
  await callTool(client, server.url, 'who')
  const sent: unknown[] = []
  const url = new URL('https://elsewhere.example/mcp')
  const { signal } = new AbortController()
  const reply = await client.attempt({ verb: 'POST', url, signal }, async (headers) => {
    sent.push(headers)
    return new Response(null, { status: 401 })
  })
  expect(reply.status).toBe(401)
  expect(sent).toEqual([{}])
})

test('a request that nobody waits for starts no login and no refresh', async () => {
  const { server, vault, issuer, login, pages, call } = await startWorld()
  const stop = new AbortController()
  const client = openAuth(login(), server.url)
  const request = { verb: 'POST', url: server.url, signal: stop.signal }
  const late = client.attempt(request, async () => {
    stop.abort(new Error('too late'))
    return new Response(null, { status: 401 })
  })
  await expect(late).rejects.toThrow('too late')
  await call('who')
  await expire(vault)
  issuer.log.length = 0
  const ready = openAuth(login(), server.url).attempt(request, async () => new Response())
  await expect(ready).rejects.toThrow('too late')
  // The next client refreshes, so nobody did before it.
  await call('who')
  expect(issuer.log).toEqual(['grant refresh_token'])
  expect(pages).toHaveLength(1)
})

const ENDS: readonly (readonly [string, (client: Authorization, stop: AbortController) => void])[] = [
  ['its only call is aborted', (_, stop) => stop.abort(new Error('tired'))],
  ['its client closes', (client) => client.close?.()],
]

test.each(ENDS)('a login shows no page if %s while the issuer is looked for', async (_, end) => {
  const clients = [{ ...DESK, application_type: 'web', redirect_uris: ['https://app.example/callback'] }]
  const world = await startWorld({ configuration: { clients } })
  const { server, issuer, login } = world
  const asked = new Deferred<undefined>()
  const hold = new Deferred<undefined>()
  const path = '/.well-known/oauth-authorization-server'
  issuer.instead.set(path, (_request, response) => {
    asked.resolve(undefined)
    void hold.promise.then(() => response.writeHead(404).end())
  })
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  let shown = 0
  const open = async (): Promise<undefined> => {
    shown++
    throw new Error('no screen')
  }
  const options = { clientId: 'desk', redirectUri: 'https://app.example/callback', open }
  const client = openAuth(login(options), server.url)
  const stop = new AbortController()
  const call = callTool(client, server.url, 'who', { signal: stop.signal })
  const ended = Promise.allSettled([call])
  await asked.promise
  end(client, stop)
  expect((await ended)[0].status).toBe('rejected')
  hold.resolve(undefined)
  issuer.instead.delete(path)
  // A whole login takes longer than the rest of the first one would.
  expect(await world.call('who')).toBe('ann notes:read')
  expect(shown).toBe(0)
  expect(unhandled).toEqual([])
})

test('a login shows no page if nobody waits for it after the registration was stored', async () => {
  const { server, vault, login, open } = await startWorld()
  const stop = new AbortController()
  let shown = 0
  const stops: Vault = {
    ...vault,
    async update(key, change) {
      const stored = await vault.update(key, change)
      if (stored?.registration !== undefined) stop.abort(new Error('tired'))
      return stored
    },
  }
  const auth = login({ vault: stops, open: (page) => (shown++, open(page)) })
  const call = callTool(openAuth(auth, server.url), server.url, 'who', { signal: stop.signal })
  await expect(call).rejects.toThrow('tired')
  expect(await callTool(openAuth(login(), server.url), server.url, 'who')).toBe('ann notes:read')
  expect(shown).toBe(0)
})

test('a client that closes stops waiting for the lock of its registration, and listens no longer', async () => {
  const { server, issuer, login, vault } = await startWorld()
  const registered = record(issuer, '/reg')
  const locked = new Deferred<undefined>()
  const held: Vault = {
    ...vault,
    update: (key, change, signal) =>
      registered.length === 0
        ? vault.update(key, change, signal)
        : new Promise((_, reject) => {
            locked.resolve(undefined)
            signal?.addEventListener('abort', () => reject(signal.reason as Error))
          }),
  }
  const client = openAuth(login({ vault: held }), server.url)
  const call = callTool(client, server.url, 'who')
  call.catch(() => undefined)
  await locked.promise
  const [redirect] = (JSON.parse(registered[0]?.body as string) as { redirect_uris: string[] }).redirect_uris
  expect((await fetch(redirect as string)).status).toBe(410)
  client.close?.()
  await expect(call).rejects.toMatchObject({ kind: 'login_failed' })
  const isGone = (): Promise<boolean> =>
    fetch(redirect as string).then(
      () => false,
      () => true,
    )
  await expect.poll(isGone).toBe(true)
})
