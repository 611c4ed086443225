import { connect, type Client } from 'pierhead/client'
import { everyRevision } from 'pierhead/testing'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Revision } from '../../src/index.ts'
import { serveUnder, type Started } from './runtimes.ts'
import { OLDEST_DATE, startWorker } from './worker.ts'

/** Starts a module that exports a server in each runtime. */
const RUNTIMES: Readonly<Record<string, () => Promise<Started>>> = {
  'workerd without nodejs_compat': () => startWorker('exported/app.ts'),
  'workerd with nodejs_compat': () => startWorker('exported/app.ts', { flags: ['nodejs_compat'] }),
  'workerd at the oldest date': () => startWorker('exported/app.ts', { date: OLDEST_DATE }),
  'deno serve': () => serveUnder('deno', 'exported/app.ts'),
  bun: () => serveUnder('bun', 'exported/app.ts'),
}

describe.each(Object.entries(RUNTIMES))('%s', (_, start) => {
  let server: Started
  beforeAll(async () => void (server = await start()))
  afterAll(() => server.stop())

  async function visit(revision: Revision, ship = 'Gull'): Promise<Client> {
    const answers = { elicit: () => ({ action: 'accept' as const, content: { ship } }) }
    const client = await connect(server.url, { revision, answers })
    onTestFinished(() => client.close())
    return client
  }

  everyRevision((revision) =>
    describe(`at ${revision}`, () => {
      test('calls are answered, at once and later', async () => {
        const client = await visit(revision)
        expect((await client.server()).revision).toBe(revision)
        expect(await client.call('echo', { text: 'grüße' })).toBe('grüße')
        expect(await client.call('later', { text: 'later' })).toBe('later')
      })

      test('a call reports its progress before it ends', async () => {
        const client = await visit(revision)
        const seen: unknown[] = []
        const onProgress = ({ progress }: { progress?: number | undefined }): void => void seen.push(progress)
        expect(await client.call('steps', {}, { onProgress })).toBe('done')
        expect(seen).toEqual([1, 2, 3])
      })

      test('two clients are served at the same time', async () => {
        const [one, two] = await Promise.all([visit(revision), visit(revision)])
        const texts = Array.from({ length: 3 }, (_, at) => `text ${at}`)
        const all = [one, two].flatMap((client) => texts.map((text) => client.call('later', { text })))
        expect(await Promise.all(all)).toEqual([...texts, ...texts])
      })

      test('a change that one request makes reaches a client that listens in another', async () => {
        const [watching, other] = await Promise.all([visit(revision), visit(revision)])
        const seen: string[] = []
        const changes = watching.watch({ tools: true, resources: ['memo://one'] })
        onTestFinished(() => void changes.return())
        void (async () => {
          for await (const { kind } of changes) seen.push(kind)
        })()
        // The client cannot know when the server has begun to listen.
        await expect.poll(async () => (await other.call('touch'), seen)).toContain('resource')
        await other.call('grow')
        await expect.poll(() => seen).toContain('tools')
      })

      test('a question of the server gets its answer, which comes in another request', async () => {
        const client = await visit(revision, `Gull ${revision}`)
        const told = await client.call('book').catch((error: Error) => error.message)
        expect(told).toMatch(revision >= '2025-06-18' ? `booked for Gull ${revision}` : /cannot be asked/)
      })

      test('a handler stops when its caller cancels', async () => {
        const [client, other] = await Promise.all([visit(revision), visit(revision)])
        const before = Number(await other.call('stopped'))
        const stop = new AbortController()
        const onProgress = (): void => stop.abort()
        await expect(client.call('hold', {}, { onProgress, signal: stop.signal })).rejects.toMatchObject({
          kind: 'cancelled',
        })
        await expect.poll(async () => Number(await other.call('stopped'))).toBe(before + 1)
      })
    }),
  )
})
