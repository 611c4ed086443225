import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test } from 'vitest'
import { connect, type Client, type State } from '../../src/client.ts'
import { NOTE } from './app.ts'
import { Journal } from './journal.ts'

const SCRIPT = new URL('./http-child.ts', import.meta.url).pathname
const kindOf = (error: unknown): string => (error as { kind: string }).kind

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Starts the server as a program of its own; the second time at the port it had the first time. */
async function start(port: string, journal: Journal): Promise<{ url: string; kill(): Promise<void> }> {
  const args = ['--conditions=pierhead-source', '--import', 'tsx', SCRIPT, port, journal.path]
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const kill = (): Promise<void> => {
    child.kill('SIGKILL')
    return gone
  }
  ends.push(kill)
  for await (const line of createInterface({ input: child.stderr as NodeJS.ReadableStream })) {
    const [, url] = /^listening on (.*)$/.exec(line) ?? []
    if (url !== undefined) return { url, kill }
  }
  throw new Error('the server did not start')
}

describe.each(['2025-11-25', '2026-07-28'] as const)('an HTTP server of %s that is killed', (revision) => {
  test('with 200 calls in flight leaves none hanging, and is used again when it is back [R086] [S2-13-C11]', async () => {
    const journal = new Journal()
    ends.push(() => journal[Symbol.dispose]())
    const first = await start('0', journal)
    const client: Client = await connect(first.url, { revision })
    ends.push(() => client.close())
    const states: State[] = []
    client.on('state', (state) => states.push(state))
    const changes = client.watch({ resources: [NOTE] })
    const begun = changes.next()
    const timer = setInterval(() => void client.call('touch'), 50)
    await begun
    clearInterval(timer)
    const told = changes.next()

    await client.ping()
    const keys = Array.from({ length: 200 }, (_, index) => `k${index}`)
    const calls = Promise.allSettled(keys.map((key) => client.call('hold', { key })))
    await expect.poll(() => journal.lines().length).toBeGreaterThan(20)
    await first.kill()
    expect(await client.call('once', { key: 'down' }).catch(kindOf)).toBe('connect_failed')
    // Calls whose streams can be resumed wait for the server; the new one does not know them.
    await start(new URL(first.url).port, journal)
    for (const outcome of await calls)
      expect(outcome.status === 'rejected' && kindOf(outcome.reason)).toBeOneOf([
        'stream_lost',
        'connect_failed',
      ])
    for (const key of keys) expect(journal.count(`ran ${key}`)).toBeLessThanOrEqual(1)
    expect(await client.call('once', { key: 'back' })).toBe('once back')
    expect(journal.count('ran back')).toBe(1)
    expect(journal.count('ran down')).toBe(0)
    // What was watched counts as changed, although nothing was told.
    expect((await told).value).toEqual({ kind: 'resource', uri: NOTE })
    expect(states).toEqual(revision === '2025-11-25' ? ['reconnecting', 'ready'] : [])
  })
})
