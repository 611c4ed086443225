import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
// What asks is loaded with the first question otherwise, which may take longer than the tool has.
import '../../src/server/ask.ts'
import { scenario } from '../harness/scenario.ts'

/** Longer than a timer takes that overflowed. */
const afterSome = (name: string): Promise<string> =>
  new Promise((resolve) => setTimeout(() => resolve(name), 20))
let stopped: unknown
const app = createServer({ name: 'timed', version: '1', log: () => undefined })
  .tool('slow', { timeout: 20 }, async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    stopped = (signal.reason as Error).message
  })
  .tool('deaf', { timeout: '15ms' }, () => new Promise(() => undefined))
  .tool('asks', { timeout: 100 }, async (_, { roots }) => roots())
  .tool('quick', { timeout: '1m' }, async () => 'quick')
  .tool('sync', { timeout: '1m' }, () => 'sync')
  .tool('patient', { timeout: '30d' }, () => afterSome('patient'))
  .tool('endless', { timeout: Infinity }, () => afterSome('endless'))

scenario(
  'a tool that takes too long is stopped and says so to the model; others are not touched [R054] [R143]',
  app,
  async (client) => {
    stopped = undefined
    const refusal = { code: 1069, name: 'TIMEOUT', httpStatus: 503, severity: 'warn', retryable: true }
    for (const [name, ms] of [
      ['slow', 20],
      ['deaf', 15],
    ] as const) {
      expect(await client.call(name)).toEqual({
        content: [{ type: 'text', text: `tool "${name}" did not finish within ${ms} ms` }],
        isError: true,
        _meta: { 'dev.pierhead/refusal': refusal },
      })
    }
    expect(stopped).toBe('tool "slow" did not finish within 20 ms')
    for (const name of ['quick', 'sync', 'patient', 'endless']) {
      expect(await client.call(name)).toEqual({ content: [{ type: 'text', text: name }], isError: false })
    }
  },
)

scenario(
  'a question has a time of its own, after which it is taken back and the tool goes on [R054]',
  () =>
    createServer({ name: 'asks', version: '1', limits: { questionMs: 30 } }).tool(
      'asks',
      {},
      async (_, { roots }) => {
        const failed = await roots().then(
          () => 'answered',
          (error: Error) => error.message,
        )
        return `went on: ${failed}`
      },
    ),
  async (client) => {
    client.answer('roots/list', () => new Promise(() => undefined))
    const { content } = await client.call('asks')
    const said = 'went on: the client refused roots/list: no answer within 30 ms'
    expect(content).toEqual([{ type: 'text', text: said }])
    const asked = client.transcript.find(({ from, text }) => from === 'server' && text.includes('roots/list'))
    const { id } = JSON.parse(asked!.text) as { id: number }
    expect(client.heard('notifications/cancelled')).toMatchObject([{ requestId: id }])
  },
  { until: '2025-11-25', capabilities: { roots: {} } },
)

scenario(
  'a question that is not answered in time is taken back [R054] [R194]',
  app,
  async (client) => {
    client.answer('roots/list', () => new Promise(() => undefined))
    const result = await client.call('asks')
    expect(result['content']).toEqual([{ type: 'text', text: 'tool "asks" did not finish within 100 ms' }])
    const asked = client.transcript.find(({ from, text }) => from === 'server' && text.includes('roots/list'))
    const { id } = JSON.parse(asked!.text) as { id: number }
    expect(client.heard('notifications/cancelled')).toMatchObject([{ requestId: id }])
  },
  { until: '2025-11-25', capabilities: { roots: {} } },
)
