import { usualOffer } from '../client/offer.ts'
import type { Scenario } from '../client/scenario.ts'
import { UNKNOWN_NOTIFICATION } from '../client/usual.ts'
import { isProbe } from '../client/visit.ts'
import type { Revision } from '../../protocol/revisions.ts'
import { E_ONLY, TRANSPORTS } from '../rule.ts'

export const B_ONLY: readonly Revision[] = ['2025-03-26']
const GREETINGS: ReadonlySet<string> = new Set(['initialize', 'ping'])

/** A server that answers in batches, as 2025-03-26 allows it. */
export const BATCHES: Scenario = {
  name: 'batches',
  does: 'sends requests and responses in batches',
  revisions: B_ONLY,
  transports: TRANSPORTS,
  begin: () => ({
    async message(turn) {
      const { visit } = turn
      const isFirst = turn.isRequest && !GREETINGS.has(turn.method) && !isProbe(turn.message)
      if (!isFirst || visit.notes.has('batched')) return false
      visit.notes.set('batched', true).set('knocked', true)
      const ids = ['batch-1', 4712]
      const answers = ids.map((id) => visit.ask(id, 'ping'))
      await turn.text(JSON.stringify(ids.map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }))))
      await Promise.all(answers)
      const { tools } = usualOffer(turn.revision)
      const response = {
        jsonrpc: '2.0',
        id: turn.message['id'],
        result: turn.method === 'tools/list' ? { tools } : {},
      }
      await turn.channel.finish(JSON.stringify([response]))
      return true
    },
  }),
}

/** A server that sends what no server of 2026-07-28 may send. */
export const CHATTY: Scenario = {
  name: 'chatty',
  does: 'sends requests at a revision whose servers must not',
  revisions: E_ONLY,
  transports: TRANSPORTS,
  begin: () => ({
    async message(turn) {
      const { visit } = turn
      if (turn.isRequest && turn.method !== 'initialize' && !visit.notes.has('chatted')) {
        visit.notes.set('chatted', true)
        await turn.notify(UNKNOWN_NOTIFICATION, { from: 'the validator' })
        await turn.text(JSON.stringify({ jsonrpc: '2.0', id: 'chat-1', method: 'ping' }))
        await turn.text(JSON.stringify({ jsonrpc: '2.0', id: 4713, method: 'roots/list' }))
      }
      return false
    },
  }),
}

/** A server with results of odd types. */
export const RESULT_TYPES: Scenario = {
  name: 'result-types',
  does: 'has an unknown resultType in its lists of resources and prompts',
  revisions: E_ONLY,
  transports: TRANSPORTS,
  begin: () => ({
    async message(turn) {
      const { resources, prompts } = usualOffer(turn.revision)
      const cached = { ttlMs: 0, cacheScope: 'private' }
      if (turn.method === 'resources/list')
        await turn.respond({ result: { resultType: 'validator/unknown', resources, ...cached } })
      else if (turn.method === 'prompts/list')
        await turn.respond({ result: { resultType: 'validator/unknown', prompts, ...cached } })
      else return false
      return true
    },
  }),
}
