import { afterEach, describe, expect, test } from 'vitest'
import type { App, Running } from 'pierhead'
import { connect, type Change, type Client, type State } from '../../src/client.ts'
import { everyRevision, testClient } from '../../src/testing.ts'
import { createCountingApp, NOTE } from './app.ts'
import { Cutter } from './cutter.ts'
import { Sessions } from './session-network.ts'

const WATCHED = { tools: true, prompts: true, resources: [NOTE] } as const
const ALL: readonly Change[] = [{ kind: 'tools' }, { kind: 'prompts' }, { kind: 'resource', uri: NOTE }]
const OTHER = 'note://two'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** What a watcher was told, to be waited for. */
function told(client: Client): { until(changes: readonly Change[]): Promise<void>; readonly seen: Change[] } {
  const seen: Change[] = []
  let arrived: () => void = () => undefined
  const watching = (async () => {
    for await (const change of client.watch(WATCHED)) {
      seen.push(change)
      arrived()
    }
  })()
  ends.unshift(() => watching)
  return {
    seen,
    async until(changes) {
      const has = (wanted: Change): boolean =>
        seen.some((one) => JSON.stringify(one) === JSON.stringify(wanted))
      while (!changes.every((wanted) => has(wanted)))
        await new Promise<void>((resolve) => (arrived = resolve))
      seen.length = 0
    },
  }
}

/** Makes changes until one is told: when a subscription begins is not visible from outside. */
async function heard(app: { updated(uri: string): void }, watcher: ReturnType<typeof told>): Promise<void> {
  const timer = setInterval(() => app.updated(NOTE), 20)
  await watcher.until([{ kind: 'resource', uri: NOTE }])
  clearInterval(timer)
}

describe('watching', () => {
  everyRevision((revision) => {
    test(`goes on at ${revision} after the connection broke, without a call, and reports everything [R066] [S2-13-C5] [S2-13-C6]`, async () => {
      const { app } = createCountingApp()
      const client = await testClient(app, { revision })
      ends.push(() => client.close())
      const watcher = told(client)
      await heard(app, watcher)
      for (let turn = 1; turn <= 3; turn++) {
        client.faults.drop()
        await watcher.until(ALL)
        await heard(app, watcher)
        expect(client.faults.opened).toBe(turn + 1)
      }
      const states = client.events.filter(({ kind }) => kind === 'state').map(({ value }) => value)
      expect(states).toEqual(['ready', ...Array.from({ length: 3 }, () => ['reconnecting', 'ready']).flat()])
    })
  })

  const listening = async (): Promise<{ readonly running: Running; readonly app: App }> => {
    const { app } = createCountingApp()
    const running = await app.listen({ http: { port: 0 } })
    ends.push(() => running.close())
    return { running, app }
  }

  test.each(['2025-03-26', '2025-06-18', '2025-11-25'] as const)(
    'goes on at %s after the session was lost, without a call, and reports everything [R086] [S2-13-C6]',
    async (revision) => {
      const { running, app } = await listening()
      const network = new Sessions(running.url as string)
      const client = await connect(running.url as string, { revision, fetch: network.fetch })
      ends.push(() => client.close())
      const states: State[] = []
      client.on('state', (state) => states.push(state))
      const watcher = told(client)
      await heard(app, watcher)
      await network.forget()
      await watcher.until(ALL)
      await heard(app, watcher)
      expect(states).toEqual(['reconnecting', 'ready'])
      expect(network.opened).toBe(2)
    },
  )

  test('listens again at 2026-07-28 after every cut, once per watcher, and reports everything', async () => {
    const { running, app } = await listening()
    const cutter = await Cutter.before(running.url as string)
    ends.push(() => cutter[Symbol.asyncDispose]())
    let listens = 0
    const counted: typeof fetch = (input, init) => {
      const body = typeof init?.body === 'string' ? init.body : ''
      if (body.includes('"method":"subscriptions/listen"')) listens++
      return fetch(input, init)
    }
    const client = await connect(cutter.url, { revision: '2026-07-28', fetch: counted })
    ends.push(() => client.close())
    const watcher = told(client)
    await heard(app, watcher)
    for (let turn = 1; turn <= 2; turn++) {
      cutter.cutAll()
      await watcher.until(ALL)
      await heard(app, watcher)
      expect(listens).toBe(turn + 1)
    }
  })

  everyRevision((revision) => {
    test(`by two at ${revision} goes on for one when the other ends [S2-13-C6]`, async () => {
      const { app } = createCountingApp()
      const client = await testClient(app, { revision })
      ends.push(() => client.close())
      const stop = new AbortController()
      const other = (async () => {
        for await (const _ of client.watch({ resources: [NOTE, OTHER], signal: stop.signal })) continue
      })()
      const watcher = told(client)
      await heard(app, watcher)
      stop.abort()
      await other
      await heard(app, watcher)
      expect(client.state).toBe('ready')
    })
  })

  test('ends at once when it was given up before it began, and with the client', async () => {
    const client = await testClient(createCountingApp().app)
    for await (const _ of client.watch({ tools: true, signal: AbortSignal.abort() })) expect.unreachable()
    const watching = (async () => {
      for await (const _ of client.watch({ tools: true })) expect.unreachable()
    })()
    await client.close()
    await watching
  })

  test('of a log level survives a reconnect: it is set again on the new connection', async () => {
    const { app } = createCountingApp()
    app.tool('speak', {}, (_, { log }) => {
      log.debug('quiet')
      log.error('loud')
    })
    const client = await testClient(app, { revision: '2025-11-25' })
    ends.push(() => client.close())
    await client.setLogLevel('error')
    client.faults.drop()
    await client.ping()
    await client.call('speak')
    const logs = client.events.filter(({ kind }) => kind === 'log').map(({ value }) => value)
    expect(logs).toMatchObject([{ level: 'error', data: 'loud' }])
  })
})
