import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Running } from 'pierhead'
import { connect, type Client, type State } from '../../src/client.ts'
import { createCountingApp, NOTE, type CountingApp } from './app.ts'
import { Sessions } from './session-network.ts'

type Step = readonly [name: string, run: (client: Client, key: string) => Promise<unknown>, answer: unknown]

const STEPS: readonly Step[] = [
  ['call', (client, key) => client.call('once', { key }), expect.stringMatching(/^once /)],
  ['tools', (client) => first(client.tools()), expect.objectContaining({ name: 'once' })],
  ['resources', (client) => first(client.resources()), expect.objectContaining({ uri: NOTE })],
  ['templates', (client) => first(client.templates()), expect.objectContaining({ name: expect.any(String) })],
  ['read', (client) => client.read(NOTE), expect.objectContaining({ contents: [expect.anything()] })],
  ['prompts', (client) => first(client.prompts()), expect.objectContaining({ name: 'greet' })],
  ['prompt', (client) => client.prompt('greet'), expect.objectContaining({ messages: [expect.anything()] })],
  [
    'complete',
    (client) => client.complete('word://{word}', { name: 'word', value: 'x' }),
    expect.objectContaining({ values: ['xone'] }),
  ],
  ['ping', (client) => client.ping(), undefined],
  ['setLogLevel', (client) => client.setLogLevel('error'), undefined],
]

describe.each(['2025-03-26', '2025-06-18', '2025-11-25'] as const)(
  'a session of %s that is gone',
  (revision) => {
    let counting: CountingApp
    let running: Running
    let network: Sessions
    let client: Client
    const states: State[] = []
    beforeAll(async () => {
      counting = createCountingApp()
      running = await counting.app.listen({ http: { port: 0 } })
    })
    afterAll(() => running.close())
    beforeEach(async () => {
      states.length = 0
      network = new Sessions(running.url as string)
      client = await connect(running.url as string, { revision, fetch: network.fetch })
      client.on('state', (state) => states.push(state))
    })
    afterEach(() => client.close())

    test.each(STEPS.map((step, index) => [STEPS.at(index - 1)?.[0], step[0], index] as const))(
      'between %s and %s is opened anew, and both are answered [R086] [S2-13-C11]',
      async (_, __, index) => {
        const [before, after] = [STEPS.at(index - 1), STEPS[index]] as [Step, Step]
        const keys = [`${revision} ${index} before`, `${revision} ${index} after`] as const
        expect(await before[1](client, keys[0])).toEqual(before[2])
        await network.forget()
        expect(await after[1](client, keys[1])).toEqual(after[2])
        expect(states).toEqual(['reconnecting', 'ready'])
        expect(network.opened).toBe(2)
        for (const key of keys) expect(counting.runs(key)).toBeLessThanOrEqual(1)
      },
    )

    test('between all of 20 calls is opened anew each time, and each call runs once [R086]', async () => {
      for (let turn = 0; turn < 20; turn++) {
        const key = `${revision} turn ${turn}`
        expect(await client.call('once', { key })).toBe(`once ${key}`)
        expect(counting.runs(key)).toBe(1)
        await network.forget()
      }
      expect(network.opened).toBe(20)
      expect(states.filter((state) => state === 'reconnecting').length).toBe(19)
    })

    test('under 200 calls leaves none hanging and runs none twice [R086] [S2-13-C11]', async () => {
      const keys = Array.from({ length: 200 }, (_, index) => `${revision} flood ${index}`)
      const calls = keys.map((key, index) => client.call(index % 2 === 0 ? 'hold' : 'once', { key }))
      const settled = Promise.allSettled(calls)
      await counting.holding(20)
      await network.forget()
      const late = keys.slice(0, 20).map((key) => client.call('once', { key: `late ${key}` }))
      expect(await Promise.all(late)).toEqual(keys.slice(0, 20).map((key) => `once late ${key}`))
      counting.release()
      const outcomes = await settledWhileReleasing(settled, counting)
      for (const [index, outcome] of outcomes.entries()) {
        const key = keys[index] as string
        const answer = `${index % 2 === 0 ? 'hold' : 'once'} ${key}`
        expect(endOf(outcome)).toBeOneOf([answer, 'stream_lost', 'session_lost'])
        expect(counting.runs(key)).toBeLessThanOrEqual(1)
      }
      const answered = keys.filter((_, index) => outcomes[index]?.status === 'fulfilled')
      expect(answered.map((key) => counting.runs(key))).toEqual(answered.map(() => 1))
      expect(client.state).toBe('ready')
    })

    test('that ends every time it is opened fails the call instead of retrying forever', async () => {
      network.forgetful = true
      const error = await client.call('once', { key: `${revision} never` }).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ kind: 'session_lost' })
      expect(counting.runs(`${revision} never`)).toBe(0)
      expect(network.opened).toBeLessThanOrEqual(3)
      network.forgetful = false
      expect(await client.call('once', { key: `${revision} again` })).toBe(`once ${revision} again`)
    })
  },
)

/** What a call gave, or how it failed. */
function endOf(outcome: PromiseSettledResult<unknown>): unknown {
  return outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as { kind: string }).kind
}

async function first<Item>(items: AsyncIterable<Item>): Promise<Item | undefined> {
  for await (const item of items) return item
  return undefined
}

async function settledWhileReleasing<Value>(settled: Promise<Value>, counting: CountingApp): Promise<Value> {
  const timer = setInterval(() => counting.release(), 10)
  try {
    return await settled
  } finally {
    clearInterval(timer)
  }
}
