import fc from 'fast-check'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { requestsOf } from './arbitrary-requests.ts'
import { object, text, token, uri } from './arbitrary-values.ts'
import { shapesOf } from './arbitrary-shapes.ts'
import type { Example } from './corpus.ts'

export interface MessageArbitrary {
  readonly kind: Example['kind']
  readonly method: string
  readonly value: fc.Arbitrary<JsonObject>
}

/** Any valid message of a revision, without the envelope of 2026-07-28. */
export function arbitraryOf(revision: Revision): fc.Arbitrary<Example> {
  const rows = arbitrariesOf(revision).map(({ kind, method, value }) =>
    value.map((generated): Example => ({ name: 'generated', kind, method, value: generated })),
  )
  return fc.oneof(...rows)
}

/** The same, one arbitrary for each type of message. */
export function arbitrariesOf(revision: Revision): readonly MessageArbitrary[] {
  const requests = Object.entries(requestsOf(revision)).flatMap(
    ([method, { params, result }]): MessageArbitrary[] => [
      { kind: 'request', method, value: params },
      { kind: 'result', method, value: result },
    ],
  )
  const notifications = Object.entries(notificationsOf(revision)).map(
    ([method, value]): MessageArbitrary => ({ kind: 'notification', method, value }),
  )
  return [...requests, ...notifications]
}

function notificationsOf(revision: Revision): Readonly<Record<string, fc.Arbitrary<JsonObject>>> {
  const { meta, level, json } = shapesOf(revision)
  const note = object({}, { _meta: meta })
  const message = revision >= '2025-03-26' ? { message: text } : {}
  const filter = object(
    {},
    {
      toolsListChanged: fc.boolean(),
      promptsListChanged: fc.boolean(),
      resourceSubscriptions: fc.array(uri),
    },
  )
  return {
    'notifications/cancelled': object({ requestId: token }, { reason: text, _meta: meta }),
    'notifications/progress': object(
      { progressToken: token, progress: fc.integer() },
      { total: fc.integer(), ...message, _meta: meta },
    ),
    'notifications/message': object({ level, data: json }, { logger: text, _meta: meta }),
    'notifications/resources/list_changed': note,
    'notifications/resources/updated': object({ uri }, { _meta: meta }),
    'notifications/tools/list_changed': note,
    'notifications/prompts/list_changed': note,
    ...(revision === '2026-07-28'
      ? {
          'notifications/subscriptions/acknowledged': object({ notifications: filter }, { _meta: meta }),
          'notifications/tasks': shapesOf(revision).task,
        }
      : { 'notifications/initialized': note, 'notifications/roots/list_changed': note }),
    ...(revision === '2025-11-25'
      ? {
          'notifications/elicitation/complete': object({ elicitationId: text }),
          'notifications/tasks/status': shapesOf(revision).task,
        }
      : {}),
  }
}
