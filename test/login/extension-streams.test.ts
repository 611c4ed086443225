import { expect, onTestFinished, test } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { browser, token } from '../../src/auth-client.ts'
import { devAuth } from '../../src/auth-dev.ts'
import { pause } from '../../src/base/backoff.ts'
import { Deferred } from '../../src/base/deferred.ts'
import type { AuthOption } from '../../src/app/auth.ts'
import { connect } from '../../src/client.ts'
import { apps, Apps } from '../../src/extensions.ts'
import { createServer, type Running } from '../../src/index.ts'

/** A server with an app that can be started, for one test. */
async function serve(auth: AuthOption): Promise<{ readonly running: Running; change(): Promise<void> }> {
  const registry = new Apps([{ name: 'first' }])
  const app = createServer({ name: 'x', version: '1', auth, log: () => undefined })
    .tool('who', {}, (_, context) => context.auth?.sub ?? 'nobody')
    .extend(apps(registry))
  const running = await app.listen({ onUncaught: 'exit', http: { port: 0 }, ws: true })
  onTestFinished(() => running.close())
  const change = async (): Promise<void> => {
    await registry.start('first')
    await registry.stop('first')
  }
  return { running, change }
}

/** The streams that a client opened, with the credentials of each. */
class Streams {
  readonly tokens: (string | null)[] = []
  /** Resolve when the first has begun and when it has ended, and when the second has begun. */
  readonly first: Deferred<void> = new Deferred()
  readonly ended: Deferred<void> = new Deferred()
  readonly second: Deferred<void> = new Deferred()

  readonly fetch: typeof fetch = async (input, init) => {
    const reply = await fetch(input, init)
    if (typeof init?.body !== 'string' || !init.body.includes('subscriptions/listen')) return reply
    this.tokens.push(new Headers(init.headers).get('authorization'))
    if (this.tokens.length > 1) this.second.resolve()
    init.signal?.addEventListener('abort', () => this.ended.resolve())
    this.first.resolve()
    return reply
  }
}

test('the stream of an extension ends with the login, and another begins as the new user', async () => {
  const { running, change } = await serve(bearer((sub) => ({ sub })))
  const streams = new Streams()
  let current = 'alice'
  await using client = await connect(running.url as string, {
    auth: token(() => current),
    extensions: [apps],
    fetch: streams.fetch,
  })
  let heard = 0
  const end = await apps.of(client).onChange(() => heard++)
  await streams.first.promise
  current = 'bob'
  expect(await client.call('who')).toBe('bob')
  await streams.ended.promise
  await streams.second.promise
  expect(streams.tokens).toEqual(['Bearer alice', 'Bearer bob'])
  await expect.poll(() => change().then(() => heard)).toBeGreaterThan(0)
  end()
})

test('over WebSocket, changes reach a listener after another user has called', async () => {
  const { running, change } = await serve(bearer((sub) => ({ sub })))
  let current = 'alice'
  const auth = token(() => current)
  await using client = await connect(running.addresses.ws as string, { auth, extensions: [apps] })
  let heard = 0
  const end = await apps.of(client).onChange(() => heard++)
  current = 'bob'
  expect(await client.call('who')).toBe('bob')
  heard = 0
  await expect.poll(() => change().then(() => heard), { timeout: 20_000 }).toBeGreaterThan(0)
  end()
})

test('after a logout, the stream of an extension waits for the next login and does not ask for it', async () => {
  const dev = await devAuth({ port: 0, scopes: ['read'] })
  onTestFinished(() => dev.close())
  const { running } = await serve(dev)
  const streams = new Streams()
  const logins: string[] = []
  let next = 'alice'
  const auth = browser({
    open: (page) => {
      logins.push(next)
      return dev.login(page, { sub: next })
    },
  })
  const url = running.url as string
  await using client = await connect(url, { auth, extensions: [apps], fetch: streams.fetch })
  const end = await apps.of(client).onChange(() => undefined)
  await streams.first.promise
  await auth.logout(url)
  await streams.ended.promise
  // Longer than the pause before a stream that ended is opened again.
  await pause(1500)
  expect([client.state, logins]).toEqual(['connecting', ['alice']])
  next = 'bob'
  expect(await client.call('who')).toBe('bob')
  await streams.second.promise
  expect(logins).toEqual(['alice', 'bob'])
  end()
})
