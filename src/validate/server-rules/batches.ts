import { isResponse, parsed, type Message, type Received } from '../message.ts'
import { C_TO_E, failed, passed, TRANSPORTS, unless, type Rule } from '../rule.ts'
import type { Revision } from '../../protocol/revisions.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Session } from '../session.ts'
import { HttpWire } from '../wire-http.ts'
import { isResponseTo, type HttpReply, type Wire } from '../wire.ts'
import { initializeMessage } from './refusal.ts'

/** The only revision with batches. */
const B_ONLY: readonly Revision[] = ['2025-03-26']

const NOTE = { jsonrpc: '2.0', method: 'notifications/validator' }

/** Rules about several messages in one list. */
export const BATCH_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R013',
    level: 'must',
    revisions: B_ONLY,
    transports: TRANSPORTS,
    rule: 'A server accepts a batch of requests and notifications.',
    how: 'Sends a list of two requests, and one of notifications only.',
    fix: 'Take a list of messages, and answer each request in it.',
    async check(subject) {
      const session = await subject.session()
      const { messages, http } = await sendBatch(session, [ping('one'), ping('two')])
      for (const id of ['one', 'two']) {
        const answer = messages.find((message) => message['id'] === id)
        if (answer === undefined)
          return failed(
            `a request in a batch gets no response${http === undefined ? '' : `, but status ${http.status}`}`,
          )
        if (answer['result'] === undefined)
          return failed(`a request in a batch is answered with ${JSON.stringify(answer).slice(0, 150)}`)
      }
      const notes = await sendBatch(session, [NOTE, NOTE])
      if (notes.http !== undefined && notes.http.status >= 300)
        return failed(`a batch of notifications is answered with status ${notes.http.status}`)
      const { result, problem } = await session.request('ping')
      return unless(
        result === undefined ? (problem ?? 'ping fails after a batch of notifications') : undefined,
      )
    },
  },
  {
    id: 'R014',
    level: 'convention',
    revisions: B_ONLY,
    transports: TRANSPORTS,
    rule: 'A batch with initialize is refused.',
    how: 'Sends initialize and ping in a list.',
    fix: 'Answer with -32600, since initialize is never part of a batch.',
    async check(subject) {
      const session = await subject.silent()
      const message = initializeMessage(session.newId(), subject.revision)
      const { messages } = await sendBatch(session, [message, ping('one')], Math.min(subject.ms, 1_000))
      const answer = messages.find(({ id }) => id === message['id'])
      return unless(answer?.['result'] === undefined ? undefined : 'initialize in a batch is accepted')
    },
  },
  {
    id: 'R015',
    level: 'should',
    revisions: B_ONLY,
    transports: TRANSPORTS,
    rule: 'A batch yields one response for each request, and none for a notification.',
    how: 'Sends a list of a request, a notification and a request, and counts the responses.',
    fix: 'Return as many responses as there are requests, in a list or one by one.',
    async check(subject) {
      const session = await subject.session()
      const { messages } = await sendBatch(session, [ping('one'), NOTE, ping('two')])
      const ids = messages.filter(isResponse).map(({ id }) => id ?? null)
      const isGood = ids.length === 2 && ids.includes('one') && ids.includes('two')
      return isGood
        ? passed
        : failed(`a batch with the requests "one" and "two" yields responses to ${JSON.stringify(ids)}`)
    },
  },
  {
    id: 'V016',
    level: 'must',
    revisions: C_TO_E,
    transports: TRANSPORTS,
    rule: 'A server sends no batches (the half of R016 that is about sending).',
    how: 'Looks for lists in everything that the server sent, except in answers to a list.',
    fix: 'Send each message by itself, not in a list.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      const batch = subject.wires.flatMap((wire) =>
        wire.received.filter((one) => Array.isArray(one.value) && !isAnswerToBatch(wire, one)),
      )[0]
      return batch === undefined
        ? passed
        : failed(
            `the server sent the list ${batch.text.slice(0, 150)}`,
            subject.trace.between(batch.at - 3, batch.at + 1),
          )
    },
  },
]

function ping(id: string): Message {
  return { jsonrpc: '2.0', id, method: 'ping' }
}

/** Sends a list, and waits for a response to each request in it and for what may follow. */
async function sendBatch(
  session: Session,
  batch: readonly Message[],
  ms: number = Math.min(session.ms, 2_000),
): Promise<{ readonly messages: readonly Message[]; readonly http: HttpReply | undefined }> {
  const { wire } = session
  const from = wire.trace.mark
  const http = await wire.send(JSON.stringify(batch))
  // Without a stream nothing more can come over HTTP.
  const isOver = session.wire.transport === 'http' && http?.isStream !== true
  for (const { id } of batch)
    if (id !== undefined && !isOver && !(await wire.wait(isResponseTo(id), { from, ms }))) break
  // A fence: what belongs to the batch comes before the answer to the next request.
  if (session.greeting !== undefined) await session.request('ping', undefined, { id: `fence ${from}` })
  const messages = wire.messagesFrom(from).filter(({ id }) => id !== `fence ${from}`)
  return { messages, http }
}

/** Whether something may be the answer to a list that we sent: on one connection nobody can tell. */
function isAnswerToBatch(wire: Wire, { stream, at }: Received): boolean {
  const isBatch = (text: string | undefined): boolean => text !== undefined && Array.isArray(parsed(text))
  return wire instanceof HttpWire
    ? isBatch(wire.posts.get(stream))
    : wire.sent.some((one) => one.at <= at && isBatch(one.text))
}
