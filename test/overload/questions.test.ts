import { expect, onTestFinished, test } from 'vitest'
import { Deferred } from '../../src/base/deferred.ts'
import { connect, type Answers, type Client } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'

const FORM = { type: 'object', properties: { amount: { type: 'number' } } } as const

/** A server with room for two requests, whose clients decide how long one takes. */
function makeShop() {
  const limits = { allInFlight: 2, inFlight: 2, queued: 0 }
  return createServer({ name: 'shop', version: '1', log: () => undefined, limits })
    .tool('refund', {}, async (_, ctx) => {
      const { content } = await ctx.elicit('How much?', FORM)
      return `refunded ${content?.amount}`
    })
    .tool('look', {}, async () => {
      await new Promise((resolve) => setImmediate(resolve))
      return 'looked'
    })
}

test.each(['tcp', 'http'] as const)(
  'over %s, requests that wait for their clients leave room for those of others, up to as many as may run',
  async (transport) => {
    const running = await makeShop().listen({ [transport]: { port: 0 } })
    onTestFinished(() => running.close())
    const join = async (elicit?: Answers['elicit']): Promise<Client> => {
      const answers = elicit === undefined ? {} : { elicit }
      const address = running.addresses[transport] as string
      const client = await connect(address, { revision: '2025-11-25', answers, recovery: false })
      onTestFinished(() => client.close())
      return client
    }
    let questions = 0
    const bothAsked = new Deferred<void>()
    const answer = new Deferred<{ action: 'accept'; content: { amount: number } }>()
    const silent = await join(async () => {
      if (++questions === 2) bothAsked.resolve()
      return answer.promise
    })
    const refunds = [silent.call('refund'), silent.call('refund')]
    await bothAsked.promise

    const other = await join(() => ({ action: 'decline' }))
    expect(await other.call('look')).toBe('looked')
    // Nobody else can ask meanwhile, and the silent client has used its share.
    await expect(other.call('refund')).rejects.toMatchObject({ kind: 'overloaded' })
    await expect(silent.call('look')).rejects.toMatchObject({ kind: 'too_many_calls' })

    answer.resolve({ action: 'accept', content: { amount: 5 } })
    expect(await Promise.all(refunds)).toEqual(['refunded 5', 'refunded 5'])
    expect(await other.call('refund')).toBe('refunded undefined')
    expect(await silent.call('look')).toBe('looked')
  },
)
