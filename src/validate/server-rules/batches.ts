import { isObject, isResponse, member, parsed, type Message, type Received } from '../message.ts'
import { C_TO_E, failed, passed, TRANSPORTS, unless, type Rule, type Verdict } from '../rule.ts'
import type { Revision } from '../../protocol/revisions.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Session } from '../session.ts'
import { HttpWire } from '../wire-http.ts'
import { isResponseTo, type HttpReply, type Wire } from '../wire.ts'
import { initializeMessage } from './refusal.ts'

/** The only revision with batches. */
const B_ONLY: readonly Revision[] = ['2025-03-26']

const NOTE = { jsonrpc: '2.0', method: 'notifications/validator' }

/** Batches without a request, which are not answered. */
const SILENT_BATCHES: readonly (readonly [string, readonly Message[]])[] = [
  ['notifications', [NOTE, NOTE]],
  ['responses', ['one', 'two'].map((id) => ({ jsonrpc: '2.0', id: `never-was-${id}`, result: {} }))],
]

/** Lists that are not batches of messages. */
const BAD_BATCHES: readonly (readonly [string, readonly unknown[]])[] = [
  ['an empty list', []],
  ['a list with entries that are not messages', [null, ping('good'), 17, {}]],
]

/** Rules about several messages in one list. */
export const BATCH_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R013',
    level: 'must',
    revisions: B_ONLY,
    transports: TRANSPORTS,
    rule: 'A server accepts a batch of requests, notifications or responses, and answers only the requests.',
    how: 'Sends a list of two requests, then lists of notifications and of responses only.',
    fix: 'Take a list of messages, and answer each request in it; over HTTP, answer a list without requests with 202 and no body.',
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
      for (const [what, batch] of SILENT_BATCHES) {
        const verdict = await passesSilently(session, batch, `a batch of ${what}`)
        if (verdict.is !== 'passed') return verdict
      }
      return passed
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
    rule: 'A batch yields one response for each request, with its id, and none for a notification.',
    how: 'Sends a list of a known method, a notification and an unknown method, and compares the responses and their ids.',
    fix: 'Return as many responses as there are requests, in a list or one by one, each with the id of its request.',
    async check(subject) {
      const session = await subject.session()
      const unknown = { jsonrpc: '2.0', id: 4_712, method: 'validator/unknown' }
      const { messages } = await sendBatch(session, [ping('one'), NOTE, unknown])
      const answers = messages.filter(isResponse)
      const ids = answers.map(({ id }) => id ?? null)
      if (ids.length !== 2 || !ids.includes('one') || !ids.includes(4_712))
        return failed(`a batch with the requests "one" and 4712 yields responses to ${JSON.stringify(ids)}`)
      const isSwapped = answers.some((one) => Object.hasOwn(one, 'result') !== (one['id'] === 'one'))
      return unless(
        isSwapped ? 'of a known and an unknown method in a batch, the wrong one has a result' : undefined,
      )
    },
  },
  {
    id: 'V015',
    level: 'must',
    revisions: B_ONLY,
    transports: TRANSPORTS,
    rule: 'An empty batch, and an entry of a batch that is not a message, is answered with error -32600 (JSON-RPC).',
    how: 'Sends an empty list, then a request between null, a number and an empty object.',
    fix: 'Answer an empty list with one error -32600, and each entry that is not a message with its own; never pass over them.',
    async check(subject) {
      const session = await subject.session()
      for (const [what, batch] of BAD_BATCHES) {
        const { messages, http } = await sendBatch(session, batch, Math.min(session.ms, 1_000))
        const errors = messages.filter((one) => (one['id'] ?? null) === null && Object.hasOwn(one, 'error'))
        const wrong = errors.find((one) => member(one, 'error', 'code') !== -32_600)
        if (wrong !== undefined)
          return failed(`${what} is answered with code ${String(member(wrong, 'error', 'code'))}`)
        if (errors.length === 0 && http?.status !== 400) return failed(`${what} gets no error`)
        if (errors.length > Math.max(1, batch.length)) return failed(`${what} gets ${errors.length} errors`)
        // One error refuses the whole list; several are answers to its entries.
        if (errors.length > 1 && !messages.some((one) => one['id'] === 'good'))
          return failed(`the request in ${what} gets no response`)
      }
      const { result, problem } = await session.request('ping')
      return unless(
        result === undefined ? (problem ?? 'ping fails after a list that is not a batch') : undefined,
      )
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
  batch: readonly unknown[],
  ms: number = Math.min(session.ms, 2_000),
): Promise<{ readonly messages: readonly Message[]; readonly http: HttpReply | undefined }> {
  const { wire } = session
  const from = wire.trace.mark
  const http = await wire.send(JSON.stringify(batch))
  // Without a stream nothing more can come over HTTP.
  const isOver = session.wire.transport === 'http' && http?.isStream !== true
  const ids = batch.filter(isObject).flatMap((one) => (Object.hasOwn(one, 'method') ? [one['id']] : []))
  for (const id of ids)
    if (id !== undefined && !isOver && !(await wire.wait(isAnswerTo(id), { from, ms }))) break
  // A fence: what belongs to the batch comes before the answer to the next request.
  if (session.greeting !== undefined) await session.request('ping', undefined, { id: `fence ${from}` })
  const messages = wire.messagesFrom(from).filter(({ id }) => id !== `fence ${from}`)
  return { messages, http }
}

/** Sends a list without requests. Nothing may come back, over HTTP but the status 202. */
async function passesSilently(session: Session, batch: readonly Message[], what: string): Promise<Verdict> {
  const { wire } = session
  const from = wire.trace.mark
  const { messages, http } = await sendBatch(session, batch)
  const reply =
    messages.find(isResponse) ??
    wire.received.find(({ at, value }) => at >= from && Array.isArray(value) && value.length === 0)?.value
  if (reply !== undefined) return failed(`${what} is answered with ${JSON.stringify(reply).slice(0, 150)}`)
  const isHttp = wire.transport === 'http'
  if (http !== undefined && (http.status >= 300 || (isHttp && http.status !== 202)))
    return failed(`${what} is answered with status ${http.status}${isHttp ? ' instead of 202' : ''}`)
  if (isHttp && http?.body !== '') return failed(`the reply to ${what} has a body`)
  const { result, problem } = await session.request('ping')
  return unless(result === undefined ? (problem ?? `ping fails after ${what}`) : undefined)
}

/** Whether something is the answer to a request in a list, or refuses the whole list. */
function isAnswerTo(id: unknown): (received: Received) => boolean {
  const isOwn = isResponseTo(id)
  return (received) =>
    isOwn(received) ||
    received.messages.some((one) => (one['id'] ?? null) === null && Object.hasOwn(one, 'error'))
}

/** Whether something may be the answer to a list that we sent: on one connection nobody can tell. */
function isAnswerToBatch(wire: Wire, { stream, at }: Received): boolean {
  const isBatch = (text: string | undefined): boolean => text !== undefined && Array.isArray(parsed(text))
  return wire instanceof HttpWire
    ? isBatch(wire.posts.get(stream))
    : wire.sent.some((one) => one.at <= at && isBatch(one.text))
}
