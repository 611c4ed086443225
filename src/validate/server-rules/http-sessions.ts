import { absent, B_TO_D, failed, unless, type Rule, type Transport, type Verdict } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Message } from '../message.ts'
import type { Session } from '../session.ts'
import { HttpWire } from '../wire-http.ts'

const HTTP: readonly Transport[] = ['http']
const SESSION_ID = 'mcp-session-id'
/** A session id that no server has given out. */
const NO_SESSION = '00000000-0000-4000-8000-000000000000'

/** Shorter ids can be tried out. */
const LEAST_LENGTH = 8

/** Requests that every server refuses, or answers with a result. */
const REFUSED: readonly (readonly [string, Message])[] = [
  ['validator/unknown', {}],
  ['tools/call', { name: 'validator_unknown', arguments: {} }],
  ['tools/call', { name: 17 }],
  ['resources/read', { uri: 'validator://missing/resource' }],
  ['prompts/get', { name: 'validator-unknown' }],
  ['tools/list', { cursor: 'validator-made-up' }],
]

/** Rules about sessions over HTTP. */
export const HTTP_SESSION_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R082',
    level: 'must',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'A session id has only visible ASCII characters.',
    how: 'Looks at the Mcp-Session-Id of the greeting.',
    fix: 'Use characters from 0x21 to 0x7E only, for instance a random UUID.',
    async check(subject) {
      const id = (await subject.shared()).first?.http?.headers[SESSION_ID]
      if (id === undefined) return absent('the server has no sessions')
      return unless(/^[\x21-\x7e]+$/.test(id) ? undefined : `the session id is ${JSON.stringify(id)}`)
    },
  },
  {
    id: 'V082',
    level: 'should',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'Each session has an id of its own, which nobody can guess.',
    how: 'Opens two sessions, and compares their ids, and that of a later reply.',
    fix: 'Make the id of a session from at least 16 random bytes, for instance with randomUUID().',
    async check(subject) {
      const [one, other] = [await subject.session(), await subject.session()].map(
        ({ first }) => first?.http?.headers[SESSION_ID],
      )
      if (one === undefined || other === undefined) return absent('the server has no sessions')
      if (one === other) return failed('two sessions have the same id')
      const session = await subject.shared()
      const later = (await session.request('ping')).http?.headers[SESSION_ID]
      if (later !== undefined && later !== session.first?.http?.headers[SESSION_ID])
        return failed('a later reply names another session')
      return unless(
        isCounted(one, other) || Math.min(one.length, other.length) < LEAST_LENGTH
          ? `two sessions have the ids ${JSON.stringify(one)} and ${JSON.stringify(other)}`
          : undefined,
      )
    },
  },
  {
    id: 'R084',
    level: 'should',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'A request without the session id that the server requires is answered with 400.',
    how: 'Sends ping, a notification, GET and DELETE without the session id.',
    fix: 'Answer requests without Mcp-Session-Id with 400, unless they initialize.',
    async check(subject) {
      const session = await subject.session()
      const { wire } = session
      if (session.first?.http?.headers[SESSION_ID] === undefined || !(wire instanceof HttpWire))
        return absent('the server has no sessions')
      const { http, result, problem } = await session.request('ping', undefined, {
        headers: { [SESSION_ID]: undefined },
      })
      if (http === undefined) return failed(problem ?? 'there is no reply')
      if (result !== undefined) return absent('the server requires no session id')
      if (http.status !== 400)
        return failed(`ping without the session id is answered with status ${http.status}`)
      return unless(await otherAnswer(wire, { id: undefined, status: 400, what: 'without the session id' }))
    },
  },
  {
    id: 'R085',
    level: 'must',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'A request with a session id that is unknown or was ended is answered with 404.',
    how: 'Sends ping, a notification, GET and DELETE with a session id that was never given out, and the first three with that of a session which DELETE has ended.',
    fix: 'Answer with 404, so that the client starts a new session.',
    async check(subject) {
      const session = await subject.session()
      const { wire } = session
      const id = session.first?.http?.headers[SESSION_ID]
      if (id === undefined || !(wire instanceof HttpWire)) return absent('the server has no sessions')
      const unknown = await goneWith(session, wire, { id: NO_SESSION, what: 'with an unknown session id' })
      if (unknown.is !== 'passed') return unknown
      const { status } = await wire.call('DELETE', { ...wire.more })
      // A server need not let clients end sessions.
      if (status < 200 || status >= 300) return unknown
      delete wire.more[SESSION_ID]
      const what = 'with the id of a session that DELETE has ended'
      return goneWith(session, wire, { id, what, isEnded: true })
    },
  },
  {
    id: 'V085',
    level: 'must',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'Status 404 is only for sessions that are over, since clients begin a new one then.',
    how: 'Sends requests and a notification that are refused, in a session; then ends another one, and sends DELETE for an unknown one.',
    fix: 'Send errors of JSON-RPC with status 200 or 400, and end only the session that DELETE names.',
    async check(subject) {
      const [session, other] = [await subject.session(), await subject.session()]
      const { wire } = session
      if (!(wire instanceof HttpWire) || session.first?.http?.headers[SESSION_ID] === undefined)
        return absent('the server has no sessions')
      const isLost = async (): Promise<boolean> => (await session.request('ping')).http?.status === 404
      for (const [method, params] of REFUSED) {
        const { http } = await session.request(method, params)
        if (http?.status === 404)
          return failed(`${method} is answered with status 404 in a session that exists`)
      }
      const http = await session.notify('notifications/validator')
      if (http?.status === 404)
        return failed('a notification is answered with status 404 in a session that exists')
      await other.close()
      if (await isLost()) return failed('the end of one session ended another one')
      await wire.call('DELETE', { ...wire.more, [SESSION_ID]: NO_SESSION })
      return unless((await isLost()) ? 'DELETE for an unknown session ended another one' : undefined)
    },
  },
  {
    id: 'V087',
    level: 'should',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'DELETE ends a session with a status from 200 to 299, or is answered with 405.',
    how: 'Opens a session, and sends DELETE for it.',
    fix: 'Answer DELETE with 200 or 204 and end the session, or with 405 if clients cannot end sessions.',
    async check(subject) {
      const session = await subject.session()
      const { wire } = session
      if (session.first?.http?.headers[SESSION_ID] === undefined || !(wire instanceof HttpWire))
        return absent('the server has no sessions')
      const { status } = await wire.call('DELETE', { ...wire.more })
      if (status >= 200 && status < 300) delete wire.more[SESSION_ID]
      return unless(
        (status >= 200 && status < 300) || status === 405
          ? undefined
          : `DELETE is answered with status ${status}`,
      )
    },
  },
]

/** Whether two ids differ only in a number at their end. */
function isCounted(one: string, other: string): boolean {
  let same = 0
  while (same < one.length && one[same] === other[same]) same++
  return [one, other].every((id) => /^\d{0,9}$/.test(id.slice(same)))
}

interface Other {
  /** The session id that is sent; undefined for none. */
  readonly id: string | undefined
  /** The status that must come. */
  readonly status: number
  readonly what: string
  /** Whether DELETE has ended the session, which a server may do twice. */
  readonly isEnded?: boolean | undefined
}

/** What is wrong with the answer to a notification, GET or DELETE with a session id; undefined if it is refused as it should be. */
async function otherAnswer(
  wire: HttpWire,
  { id, status: wanted, what, isEnded = false }: Other,
): Promise<string | undefined> {
  const headers = { [SESSION_ID]: id }
  const note = await wire.send('{"jsonrpc":"2.0","method":"notifications/validator"}', { headers })
  if (note.status !== wanted) return `a notification ${what} is answered with status ${note.status}`
  for (const method of isEnded ? ['GET'] : ['GET', 'DELETE']) {
    const { status, close } = await wire.call(method, {
      accept: 'text/event-stream',
      ...wire.more,
      ...headers,
    })
    close()
    // A server need not have the method at all.
    if (status !== wanted && status !== 405) return `${method} ${what} is answered with status ${status}`
  }
  return undefined
}

/** Whether what has a session id is answered with 404. */
async function goneWith(
  session: Session,
  wire: HttpWire,
  { id, what, isEnded }: Pick<Other, 'what' | 'isEnded'> & { readonly id: string },
): Promise<Verdict> {
  const { http, problem } = await session.request('ping', undefined, { headers: { [SESSION_ID]: id } })
  if (http === undefined) return failed(problem ?? 'there is no reply')
  if (http.status !== 404) return failed(`ping ${what} is answered with status ${http.status}`)
  return unless(await otherAnswer(wire, { id, status: 404, what, isEnded }))
}
