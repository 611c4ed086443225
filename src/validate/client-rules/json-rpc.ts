import type { ClientSubject } from '../client-subject.ts'
import { UNKNOWN_NOTIFICATION } from '../client/usual.ts'
import type { Heard, Visit } from '../client/visit.ts'
import { isObject, isRequest, isResponse, type Message } from '../message.ts'
import {
  A_TO_D,
  ALL,
  C_TO_E,
  E_ONLY,
  passed,
  TRANSPORTS,
  unchecked,
  type Rule,
  type Verdict,
} from '../rule.ts'
import { B_ONLY, BATCHES, CHATTY, RESULT_TYPES } from './message-scenarios.ts'
import { broken, everyMessage, everyVisit, shown } from './verdicts.ts'

/** Rules about messages in general. */
export const CLIENT_JSON_RPC_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R001',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Every message has "jsonrpc": "2.0".',
    how: 'Looks at every message of the client.',
    fix: 'Send "jsonrpc": "2.0" in every message, as a text.',
    isLast: true,
    check: (subject) =>
      everyMessage(
        subject,
        () => true,
        ({ jsonrpc }) => (jsonrpc === '2.0' ? undefined : `a message has "jsonrpc": ${shown(jsonrpc)}`),
      ),
  },
  {
    id: 'R002',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'The id of a request is a text or an integer, and never null.',
    how: 'Looks at every request of the client.',
    fix: 'Count the requests: 1, 2, 3.',
    isLast: true,
    check: (subject) =>
      everyMessage(subject, isRequest, ({ id, method }) =>
        typeof id === 'string' || Number.isInteger(id)
          ? undefined
          : `the request ${shown(method)} has the id ${shown(id)}`,
      ),
  },
  {
    id: 'R003',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A client uses an id only once in a session.',
    how: 'Compares the ids of all requests after initialize.',
    fix: 'Count the requests, and never begin again within a session.',
    isLast: true,
    check: (subject) => everyVisit(subject, (visit) => reusedId(visit, () => false)),
  },
  {
    id: 'R004',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'An id is unique among the requests that wait for a response.',
    how: 'Compares the ids of requests that were open at the same time.',
    fix: 'Count the requests, or use an id again only after its response.',
    isLast: true,
    check: (subject) =>
      everyVisit(subject, (visit) =>
        reusedId(visit, (id, from, to) => (visit.replyTo(id, from)?.at ?? Infinity) < to),
      ),
  },
  {
    id: 'R005',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A response has the id of its request, with the same JSON type.',
    how: 'Asks with a text and with a number as the id, and looks at the ids of all responses.',
    fix: 'Return the id exactly as it came; never convert it.',
    isLast: true,
    check: (subject) =>
      everyVisit(subject, (visit) => {
        const asked = new Set<unknown>(visit.asked.map(({ id }) => id))
        const wrong = responses(visit).find(
          ({ message }) => !asked.has(message['id']) && !isComplaint(message),
        )
        if (wrong !== undefined)
          return broken(
            visit,
            wrong.seen,
            `a response has the id ${shown(wrong.message['id'])}, which no request had`,
          )
        return visit.asked.some(({ answers }) => answers.length > 0) ? passed : NO_ANSWER
      }),
  },
  {
    id: 'R006',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A response has either a result or an error.',
    how: 'Looks at every response of the client.',
    fix: 'Send "result" for success and "error" for failure, never both or neither.',
    isLast: true,
    check: (subject) =>
      everyMessage(subject, isAnswer, (message) => {
        const [hasResult, hasError] = [Object.hasOwn(message, 'result'), Object.hasOwn(message, 'error')]
        if (hasResult !== hasError) return undefined
        return hasResult
          ? 'a response has both a result and an error'
          : 'a response has neither a result nor an error'
      }),
  },
  {
    id: 'R007',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'An error has an integer as its code and a text as its message.',
    how: 'Sends a request that no client knows, and looks at every error.',
    fix: 'Send { "code": -32601, "message": "Method not found" }.',
    isLast: true,
    check: (subject) =>
      everyMessage(
        subject,
        (message) => isResponse(message) && Object.hasOwn(message, 'error'),
        ({ error }) =>
          isObject(error) && Number.isInteger(error['code']) && typeof error['message'] === 'string'
            ? undefined
            : `the error is ${shown(error)}`,
      ),
  },
  {
    id: 'R008',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A notification has no id, and gets no response.',
    how: `Sends ${UNKNOWN_NOTIFICATION}, and looks at the responses and at every notification of the client.`,
    fix: 'Ignore notifications that you do not know, and send your own without an id.',
    isLast: true,
    async check(subject) {
      if (subject.isModern) await subject.visit(CHATTY)
      return everyVisit(subject, answeredNotification)
    },
  },
  {
    id: 'R013',
    level: 'must',
    revisions: B_ONLY,
    transports: TRANSPORTS,
    rule: 'A client accepts batches of requests and of responses.',
    how: 'Sends two pings in a batch, and the response to the first request in another one.',
    fix: 'Handle each message of an array as if it had come alone.',
    async check(subject) {
      const visit = await subject.visit(BATCHES)
      if (!visit.notes.has('batched')) return unchecked('the client sends no request after initialize')
      const silent = visit.asked.find(({ answers }) => answers.length === 0)
      if (silent !== undefined)
        return broken(visit, silent, 'the client does not answer the requests in a batch')
      const usual = await subject.usual()
      return usual.steps > 1 && visit.steps <= 1
        ? broken(visit, undefined, 'the client does not go on after a response in a batch')
        : passed
    },
  },
  {
    id: 'R014',
    level: 'must',
    revisions: B_ONLY,
    transports: TRANSPORTS,
    rule: 'initialize is never part of a batch.',
    how: 'Looks at every batch of the client.',
    fix: 'Send initialize alone, and wait for its result.',
    isLast: true,
    check: (subject) =>
      everyVisit(subject, (visit) => {
        const greeting = visit.requests('initialize')
        const wrong = greeting.find(({ seen }) => Array.isArray(seen.value))
        if (wrong !== undefined) return broken(visit, wrong.seen, 'the client sends initialize in a batch')
        return greeting.length > 0 ? passed : unchecked('the client sends no initialize')
      }),
  },
  {
    id: 'R016',
    level: 'must',
    revisions: C_TO_E,
    transports: TRANSPORTS,
    rule: 'No batches are sent.',
    how: 'Looks at everything that the client sends.',
    fix: 'Send each message alone; 2025-06-18 removed batches.',
    isLast: true,
    check: (subject) =>
      everyVisit(subject, (visit) => {
        const wrong = visit.seen.find(({ value }) => Array.isArray(value))
        if (wrong !== undefined) return broken(visit, wrong, 'the client sends a batch')
        return visit.heard.length > 0 ? passed : unchecked('the client sends nothing')
      }),
  },
  {
    id: 'R018',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A result with an unknown resultType is not used.',
    how: 'Lists resources and prompts with an unknown resultType, and looks whether the client uses them.',
    fix: 'Reject results with a resultType that you do not know.',
    async check(subject) {
      const [usual, visit] = await Promise.all([subject.usual(), subject.visit(RESULT_TYPES)])
      const used = USES.flatMap((method) => visit.requests(method))[0]
      if (used !== undefined)
        return broken(visit, used.seen, 'the client uses a list whose resultType is unknown')
      const wouldUse = USES.some((method) => usual.requests(method).length > 0)
      const hasListed = ['resources/list', 'prompts/list'].some((method) => visit.requests(method).length > 0)
      return wouldUse && hasListed ? passed : unchecked('the client reads no resource and gets no prompt')
    },
  },
  {
    id: 'R019',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A client sends no responses.',
    how: 'Sends ping and roots/list as requests, which a server of this revision must not do.',
    fix: 'Ignore requests of servers at 2026-07-28; answer questions with inputResponses.',
    isLast: true,
    async check(subject) {
      const chatty = await subject.visit(CHATTY)
      for (const visit of [chatty, ...(await subject.visits())]) {
        const wrong = responses(visit)[0]
        if (wrong !== undefined) return broken(visit, wrong.seen, 'the client sends a response')
      }
      return chatty.notes.has('chatted') ? passed : unchecked('the client sends no request')
    },
  },
]

function answeredNotification(visit: Visit): Verdict {
  const named = visit.heard.find(
    ({ message }) => Object.hasOwn(message, 'id') && String(message['method']).startsWith('notifications/'),
  )
  if (named !== undefined)
    return broken(
      visit,
      named.seen,
      `${shown(named.message['method'])} has the id ${shown(named.message['id'])}`,
    )
  const reply = responses(visit).find(({ message }) => isComplaint(message))
  if (reply !== undefined)
    return broken(visit, reply.seen, 'the client answers a notification with a response without an id')
  return visit.notes.has('knocked') || visit.notes.has('chatted')
    ? passed
    : unchecked('the client sends no request after the first one')
}

const USES = ['resources/read', 'prompts/get']
const NO_ANSWER = unchecked('the client answered no request of the server')

function responses(visit: Visit): readonly Heard[] {
  return visit.heard.filter(({ message }) => isResponse(message))
}

/** A response, also one that lacks both a result and an error. */
function isAnswer(message: Message): boolean {
  return !Object.hasOwn(message, 'method')
}

/** Whether a response is about no request in particular. */
function isComplaint({ id }: Message): boolean {
  return id === undefined || id === null
}

/** Looks for an id that two requests have. */
function reusedId(visit: Visit, isFree: (id: unknown, from: number, to: number) => boolean): Verdict {
  const used = new Map<unknown, number>()
  let session = ''
  for (const { message, seen } of visit.ownRequests()) {
    const { id, method } = message
    // Each connection, and each greeting, begins a session.
    const stream = seen.http === undefined ? seen.stream : 'http'
    if (method === 'initialize' || stream !== session) used.clear()
    session = stream
    const before = used.get(id)
    if (before !== undefined && !isFree(id, before, seen.at))
      return broken(visit, seen, `the id ${shown(id)} was used before`)
    used.set(id, seen.at)
  }
  return used.size > 1 ? passed : unchecked('the client sent one request only')
}
