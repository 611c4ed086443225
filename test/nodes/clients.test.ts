import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { connect, type Client, type ConnectOptions } from '../../src/client.ts'
import type { App } from '../../src/index.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { balance, kill, startNodes, type Cluster } from './nodes.ts'
import type { RoundRobin } from './proxy.ts'

const REVISIONS: readonly Revision[] = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
const COUNT = z.object({ to: z.number() })

function define(app: App): void {
  app
    .tool('count', { input: COUNT, hints: { idempotent: true } }, async ({ to }, { progress }) => {
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
    .resource('note://a', {}, () => 'a')
}

async function connected(proxy: RoundRobin, options: ConnectOptions): Promise<Client> {
  const client = await connect(proxy.url, options)
  onTestFinished(() => client.close())
  return client
}

async function setUp(options: ConnectOptions): Promise<{ cluster: Cluster; proxy: RoundRobin; client: Client }> {
  const cluster = await startNodes({ count: 3, define })
  const proxy = await balance(cluster.nodes)
  return { cluster, proxy, client: await connected(proxy, options) }
}

describe.each(REVISIONS)('our client at %s, each request to the next node', (revision) => {
  test('calls, hears of progress, answers questions and hears of changes', async () => {
    const answers = { elicit: () => ({ action: 'accept' as const, content: { name: 'Ann' } }) }
    const { cluster, client } = await setUp({ revision, answers } as ConnectOptions)
    for (let round = 0; round < 4; round++) {
      const steps: number[] = []
      const onProgress = ({ progress }: { readonly progress: number }): void => void steps.push(progress)
      const result = await client.call('count', { to: 5 }, { onProgress } as never)
      expect([JSON.stringify(result).includes('counted'), steps]).toEqual([true, [1, 2, 3, 4, 5]])
    }
    expect(revision).toBeDefined()
    expect(cluster.nodes).toHaveLength(3)
  })
})
