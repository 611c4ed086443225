import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { connect, type Change, type Client, type ConnectOptions } from '../../src/client.ts'
import type { App } from '../../src/index.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { balance, kill, startNodes, type Cluster } from './nodes.ts'
import type { RoundRobin } from './proxy.ts'

const REVISIONS: readonly Revision[] = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
const RESUMABLE: readonly Revision[] = ['2025-06-18', '2025-11-25']
const COUNT = z.object({ to: z.number() })
const NOTE = 'note://a'

/** How often the tools ran, at all nodes together. */
let runs = 0

function define(app: App): void {
  app
    .tool('count', { input: COUNT }, async ({ to }, { progress }) => {
      runs++
      for (let step = 1; step <= to; step++) {
        progress(step, to)
        await new Promise((resolve) => setImmediate(resolve))
      }
      return 'counted'
    })
    .tool('ask', {}, async (_, { elicit }) => {
      const { content } = await elicit('Name?', z.object({ name: z.string() }))
      return `Hello, ${content?.name}!`
    })
    .tool('touch', {}, () => {
      app.updated(NOTE)
      return 'touched'
    })
    .resource(NOTE, {}, () => 'a')
}

interface SetUp {
  readonly cluster: Cluster
  readonly proxy: RoundRobin
  readonly client: Client
}

async function setUp(options: ConnectOptions): Promise<SetUp> {
  const cluster = await startNodes({ count: 3, define, limits: { keepAliveMs: 100 } })
  const proxy = await balance(cluster.nodes)
  const client = await connect(proxy.url, options)
  onTestFinished(() => client.close())
  return { cluster, proxy, client }
}

async function count(client: Client, to: number): Promise<readonly number[]> {
  const steps: number[] = []
  const onProgress = ({ progress = 0 }: { readonly progress?: number | undefined }): void =>
    void steps.push(progress)
  expect(await client.call('count', { to }, { onProgress })).toBe('counted')
  return steps
}

describe.each(REVISIONS)('our client at %s, with each request at the next node', (revision) => {
  test('calls and hears of progress', async () => {
    const { client } = await setUp({ revision })
    for (let round = 0; round < 4; round++) expect(await count(client, 3)).toEqual([1, 2, 3])
  })

  test('hears of changes of a resource, wherever they happen', async () => {
    const { client, cluster } = await setUp({ revision })
    const heard: Change[] = []
    let next: () => void = () => undefined
    const end = await client.subscribe(NOTE, (change) => {
      heard.push(change)
      next()
    })
    for (const { app } of cluster.nodes) {
      const told = new Promise<void>((resolve) => (next = resolve))
      app.updated(NOTE)
      await told
    }
    await end()
    await client.call('touch')
    expect(heard).toEqual(cluster.nodes.map(() => ({ kind: 'resource', uri: NOTE })))
  })
})

test.each(REVISIONS.slice(1))(
  'our client at %s answers questions, each at the next node',
  async (revision) => {
    const answers = { elicit: () => ({ action: 'accept' as const, content: { name: 'Ann' } }) }
    const { client } = await setUp({ revision, answers })
    for (let round = 0; round < 4; round++) expect(await client.call('ask')).toBe('Hello, Ann!')
  },
)

describe.each(RESUMABLE)('our client at %s, whose connections break', (revision) => {
  test('has the result of a call that goes on, with each progress once, and the call runs once', async () => {
    const { client, proxy, cluster } = await setUp({ revision })
    runs = 0
    let seen = 0
    const steps: number[] = []
    const onProgress = ({ progress = 0 }: { readonly progress?: number | undefined }): void => {
      steps.push(progress)
      if (++seen % 10 === 0) for (const { port } of cluster.nodes) proxy.drop(port)
    }
    expect(await client.call('count', { to: 40 }, { onProgress })).toBe('counted')
    expect(steps).toEqual(Array.from({ length: 40 }, (_, at) => at + 1))
    expect(runs).toBe(1)
  })

  test('goes on with the other nodes if one dies', async () => {
    const { client, proxy, cluster } = await setUp({ revision })
    expect(await count(client, 3)).toEqual([1, 2, 3])
    const [first] = cluster.nodes
    proxy.remove(first!.port)
    kill(cluster, 1, first!)
    for (let round = 0; round < 3; round++) expect(await count(client, 3)).toEqual([1, 2, 3])
  })

  test('goes on with the other nodes if one is told to stop', async () => {
    const { client, proxy, cluster } = await setUp({ revision })
    expect(await count(client, 3)).toEqual([1, 2, 3])
    for (const { app, port } of cluster.nodes.slice(0, 2)) {
      const running = count(client, 50)
      proxy.leave(port)
      await app.close()
      expect(await running).toHaveLength(50)
      expect(await count(client, 3)).toEqual([1, 2, 3])
    }
  })
})
