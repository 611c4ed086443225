import { expect, onTestFinished, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { Deferred } from '../../src/base/deferred.ts'
import { connect, type Answers, type Client } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'

const FORM = { type: 'object', properties: { amount: { type: 'number' } } } as const

/** A server whose clients decide how long a request takes. */
function makeShop(limits: { allInFlight: number; inFlight: number }) {
  let running = 0
  const most = { running: 0 }
  const app = createServer({
    name: 'shop',
    version: '1',
    log: () => undefined,
    limits: { ...limits, queued: 100, waitMs: 60_000 },
  })
    .tool('refund', {}, async (_, ctx) => {
      const { content } = await ctx.elicit('How much?', FORM)
      return `refunded ${content?.amount}`
    })
    .tool('look', {}, async () => {
      most.running = Math.max(most.running, ++running)
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
      running--
      return 'looked'
    })
    .tool('forget', {}, (_, ctx) => {
      void ctx.elicit('Anybody there?', FORM).catch(() => undefined)
      return 'forgotten'
    })
  return { app, most }
}

/** Serves the shop over a transport; clients join with their answers to questions. */
async function serve(app: ReturnType<typeof makeShop>['app'], transport: 'tcp' | 'http') {
  const running = await app.listen({ [transport]: { port: 0 } })
  onTestFinished(() => running.close())
  return async (elicit: NonNullable<Answers['elicit']>): Promise<Client> => {
    const address = running.addresses[transport] as string
    const client = await connect(address, { revision: '2025-11-25', answers: { elicit }, recovery: false })
    onTestFinished(() => client.close())
    return client
  }
}

test.each(['tcp', 'http'] as const)(
  'over %s, requests that wait for their clients leave room for those of others, and one client gets a quarter of the places',
  async (transport) => {
    const join = await serve(makeShop({ allInFlight: 8, inFlight: 3 }).app, transport)
    let questions = 0
    const bothAsked = new Deferred<void>()
    const answer = new Deferred<{ action: 'accept'; content: { amount: number } }>()
    const silent = await join(async () => {
      if (++questions === 2) bothAsked.resolve()
      return answer.promise
    })
    const refunds = [silent.call('refund'), silent.call('refund')]
    await bothAsked.promise
    await expect(silent.call('refund')).rejects.toMatchObject({
      message: expect.stringContaining('too many requests are waiting for answers from their clients'),
    })

    const other = await join(() => ({ action: 'decline' }))
    expect(await other.call('look')).toBe('looked')
    expect(await other.call('refund')).toBe('refunded undefined')

    answer.resolve({ action: 'accept', content: { amount: 5 } })
    expect(await Promise.all(refunds)).toEqual(['refunded 5', 'refunded 5'])
    expect(await silent.call('refund')).toBe('refunded 5')
  },
)

test('requests that wait for their clients count for their callers', async () => {
  const join = await serve(makeShop({ allInFlight: 8, inFlight: 2 }).app, 'tcp')
  let questions = 0
  const bothAsked = new Deferred<void>()
  const silent = await join(() => {
    if (++questions === 2) bothAsked.resolve()
    return new Promise(() => undefined)
  })
  const refunds = [silent.call('refund'), silent.call('refund')]
  for (const each of refunds) each.catch(() => undefined)
  await bothAsked.promise
  await expect(silent.call('look')).rejects.toMatchObject({ kind: 'too_many_calls' })
})

test.each(['tcp', 'http'] as const)(
  'over %s, a few silent clients leave room for the questions of others',
  async (transport) => {
    const { app } = makeShop({ allInFlight: 64, inFlight: 16 })
    const join = await serve(app, transport)
    let questions = 0
    const allAsked = new Deferred<void>()
    for (let each = 0; each < 4; each++) {
      const silent = await join(() => {
        if (++questions === 16 + 12 + 9 + 7) allAsked.resolve()
        return new Promise(() => undefined)
      })
      for (let more = 0; more < 16; more++) silent.call('refund').catch(() => undefined)
    }
    await allAsked.promise
    const honest = await join(() => ({ action: 'accept', content: { amount: 3 } }))
    expect(await honest.call('refund')).toBe('refunded 3')
    expect(app.counts.get('too_many_questions')).toBe(4 * 16 - 44)
  },
)

test.each(['tcp', 'http'] as const)(
  'over %s, questions that no handler waits for do not raise limits.allInFlight',
  async (transport) => {
    const { app, most } = makeShop({ allInFlight: 3, inFlight: 100 })
    const join = await serve(app, transport)
    const client = await join(() => new Promise(() => undefined))
    expect(await client.call('forget')).toBe('forgotten')
    // The question ended with the request.
    await expect.poll(() => serviceOf(app).load.asking).toBe(0)
    await Promise.all(Array.from({ length: 12 }, () => client.call('look')))
    expect(most.running).toBe(3)
  },
)
