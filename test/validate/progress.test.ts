import { expect, test } from 'vitest'
import { PROGRESS_RULES } from '../../src/validate/server-rules/progress.ts'
import type { Message } from '../../src/validate/message.ts'
import { without, type Fault } from './fault.ts'
import { serveEverywhere } from './faulty-door.ts'
import { createFixture } from './fixture.ts'
import { HTTP_STREAM_RULES } from '../../src/validate/server-rules/http-streams.ts'
import { outcomesOf, prove } from './prove.ts'

/** Changes reports of progress. */
function inProgress(change: (params: Message) => Message): NonNullable<Fault['message']> {
  return (message) =>
    message['method'] === 'notifications/progress'
      ? { ...message, params: change(message['params'] as Message) }
      : message
}

const FAULTS: readonly Fault[] = [
  {
    rule: 'R190',
    does: 'reports for a token of its own',
    message: inProgress((params) => ({ ...params, progressToken: 'own' })),
  },
  {
    rule: 'R190',
    does: 'reports without a token',
    message: inProgress((params) => without(params, 'progressToken')),
  },
  {
    rule: 'R191',
    does: 'reports the same twice',
    message: inProgress((params) => ({ ...params, progress: 1 })),
  },
  {
    rule: 'R194',
    does: 'answers cancellations',
    answer: ({ method }) =>
      method === 'notifications/cancelled'
        ? { jsonrpc: '2.0', id: 0, error: { code: -32_602, message: 'no such request' } }
        : undefined,
  },
  {
    rule: 'R195',
    does: 'cancels requests of its client',
    message: (message, request) =>
      request === undefined
        ? message
        : [{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'x' } }, message],
  },
]

prove('Progress', PROGRESS_RULES, FAULTS)

test('tokens of calls that other rules make are known', async () => {
  const served = await serveEverywhere(createFixture())
  try {
    const rules = [...HTTP_STREAM_RULES, ...PROGRESS_RULES]
    const outcomes = await outcomesOf(served, rules, { revision: '2025-11-25', transport: 'http' })
    expect(outcomes.filter(({ is }) => is === 'failed')).toEqual([])
  } finally {
    await served.close()
  }
})
