import { absent, B_TO_D, failed, unless, type Rule, type Transport, type Verdict } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Session } from '../session.ts'
import { HttpWire } from '../wire-http.ts'

const HTTP: readonly Transport[] = ['http']
const SESSION_ID = 'mcp-session-id'
/** A session id that no server has given out. */
const NO_SESSION = '00000000-0000-4000-8000-000000000000'

/** Shorter ids can be tried out. */
const LEAST_LENGTH = 8

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
    how: 'Opens two sessions, and compares their ids.',
    fix: 'Make the id of a session from at least 16 random bytes, for instance with randomUUID().',
    async check(subject) {
      const [one, other] = [await subject.session(), await subject.session()].map(
        ({ first }) => first?.http?.headers[SESSION_ID],
      )
      if (one === undefined || other === undefined) return absent('the server has no sessions')
      if (one === other) return failed('two sessions have the same id')
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
    how: 'Sends ping without the session id.',
    fix: 'Answer requests without Mcp-Session-Id with 400, unless they initialize.',
    async check(subject) {
      const session = await subject.session()
      if (session.first?.http?.headers[SESSION_ID] === undefined) return absent('the server has no sessions')
      const { http, result, problem } = await session.request('ping', undefined, {
        headers: { [SESSION_ID]: undefined },
      })
      if (http === undefined) return failed(problem ?? 'there is no reply')
      if (result !== undefined) return absent('the server requires no session id')
      return unless(
        http.status === 400
          ? undefined
          : `ping without the session id is answered with status ${http.status}`,
      )
    },
  },
  {
    id: 'R085',
    level: 'must',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'A request with a session id that is unknown or was ended is answered with 404.',
    how: 'Sends ping with a session id that was never given out, and with that of a session which DELETE has ended.',
    fix: 'Answer with 404, so that the client starts a new session.',
    async check(subject) {
      const session = await subject.session()
      const { wire } = session
      const id = session.first?.http?.headers[SESSION_ID]
      if (id === undefined || !(wire instanceof HttpWire)) return absent('the server has no sessions')
      const unknown = await goneWith(session, NO_SESSION, 'an unknown session id')
      if (unknown.is !== 'passed') return unknown
      const { status } = await wire.call('DELETE', { ...wire.more })
      // A server need not let clients end sessions.
      if (status < 200 || status >= 300) return unknown
      delete wire.more[SESSION_ID]
      return goneWith(session, id, 'the id of a session that DELETE has ended')
    },
  },
]

/** Whether two ids differ only in a number at their end. */
function isCounted(one: string, other: string): boolean {
  let same = 0
  while (same < one.length && one[same] === other[same]) same++
  return [one, other].every((id) => /^\d{0,9}$/.test(id.slice(same)))
}

/** Whether a request with a session id is answered with 404. */
async function goneWith(session: Session, id: string, what: string): Promise<Verdict> {
  const { http, problem } = await session.request('ping', undefined, { headers: { [SESSION_ID]: id } })
  if (http === undefined) return failed(problem ?? 'there is no reply')
  return unless(http.status === 404 ? undefined : `${what} is answered with status ${http.status}`)
}
