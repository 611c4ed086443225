import { expect, test } from 'vitest'
import { PROGRESS_RULES } from '../../src/validate/server-rules/progress.ts'
import { LOG_LEVEL_RULES } from '../../src/validate/server-rules/log-levels.ts'
import { member, type Message } from '../../src/validate/message.ts'
import { without, type Fault, type Instead } from './fault.ts'
import { serveEverywhere } from './faulty-door.ts'
import { createFixture } from './fixture.ts'
import { HTTP_STREAM_RULES } from '../../src/validate/server-rules/http-streams.ts'
import { LEVEL_FAULTS } from './modern-faults.ts'
import { outcomesOf, prove } from './prove.ts'
import { LATE_FAULTS } from './stream-faults.ts'

/** Changes reports of progress. */
function inProgress(change: (params: Message) => Message): NonNullable<Fault['message']> {
  return (message) =>
    message['method'] === 'notifications/progress'
      ? { ...message, params: change(message['params'] as Message) }
      : message
}

const cancellation = (requestId: unknown): Message => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
})

/** Changes requests of the server. */
function inRequest(change: (request: Message) => Instead): NonNullable<Fault['message']> {
  return (message) => ('method' in message && 'id' in message ? change(message) : message)
}

function withToken(request: Message, progressToken: unknown): Message {
  return { ...request, params: { ...(request['params'] as Message | undefined), _meta: { progressToken } } }
}

const FAULTS: readonly Fault[] = [
  ...LATE_FAULTS,
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
    rule: 'R192',
    does: 'has fractions as tokens',
    message: inRequest((request) => withToken(request, 1.5)),
  },
  {
    rule: 'R193',
    does: 'cancels requests of its client',
    message: (message, request) => (request === undefined ? message : [cancellation(request['id']), message]),
  },
  {
    rule: 'V194',
    does: 'does not hear cancellations',
    answer: ({ method }) => (method === 'notifications/cancelled' ? '' : undefined),
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

/** Servers that are right in another way. */
const VARIANTS: readonly Fault[] = [
  { rule: 'R192', does: 'has integers as tokens', message: inRequest((request) => withToken(request, 15)) },
  {
    rule: 'R193',
    does: 'cancels its own requests',
    message: inRequest((request) => [request, cancellation(request['id'])]),
  },
]

prove('Progress', PROGRESS_RULES, FAULTS, VARIANTS)

prove('Log levels', LOG_LEVEL_RULES, [
  ...LEVEL_FAULTS,
  {
    rule: 'V185',
    does: 'forgets the level',
    answer: ({ id, method, params }) =>
      method === 'logging/setLevel' && member(params, 'level') === 'emergency'
        ? { jsonrpc: '2.0', id, result: {} }
        : undefined,
  },
])

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
