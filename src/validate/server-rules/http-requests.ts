import { isLoopback } from '../../base/loopback.ts'
import {
  A_TO_D,
  absent,
  B_TO_D,
  B_TO_E,
  C_TO_D,
  failed,
  passed,
  unchecked,
  unless,
  type Rule,
  type Transport,
  type Verdict,
} from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { isRequest, messagesIn, parsed } from '../message.ts'
import { OUR_INFO, type Session } from '../session.ts'
import { HttpWire } from '../wire-http.ts'
import type { HttpReply } from '../wire.ts'
import { HTTP_SESSION_RULES } from './http-sessions.ts'

const HTTP: readonly Transport[] = ['http']
const WEB: readonly Transport[] = ['http', 'sse']
const EVIL = 'http://evil.example'

/** Rules about single requests over HTTP, up to 2025-11-25 unless they say otherwise. */
export const HTTP_REQUEST_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R070',
    level: 'must',
    revisions: A_TO_D,
    transports: WEB,
    rule: 'A server checks the Origin header, so that web pages of others cannot use it; from 2025-11-25 on it answers with 403.',
    how: `Sends a greeting with the Origin ${EVIL}, and, in a session over HTTP, ping and GET.`,
    fix: 'Refuse requests whose Origin you do not know with status 403.',
    async check(subject) {
      const { status } = await greetingWith(subject, { origin: EVIL })
      if (status < 400) return failed(`a request of a page at ${EVIL} is answered with status ${status}`)
      if (subject.revision >= '2025-11-25' && status !== 403)
        return failed(`a request of a page at ${EVIL} is answered with status ${status} instead of 403`)
      if (subject.transport !== 'http') return passed
      const { http, wire } = await foreignPing(subject)
      if (http !== undefined && http.status < 400)
        return failed(`ping of a page at ${EVIL}, in a session, is answered with status ${http.status}`)
      const stream = await wire.get({ headers: { origin: EVIL } })
      stream.close()
      return unless(
        stream.status < 400 ? `GET of a page at ${EVIL} is answered with status ${stream.status}` : undefined,
      )
    },
  },
  {
    id: 'R071',
    level: 'should',
    revisions: [...A_TO_D, '2026-07-28'],
    transports: WEB,
    rule: 'A server on this machine checks the Host header, so that a name of others that leads here is refused.',
    how: 'Sends a greeting with the Host evil.example and none of the headers of the user to a server on a loopback address.',
    fix: 'Refuse requests whose Host is not the one that you serve.',
    async check(subject) {
      if (!isLoopback(subject.door.url?.hostname ?? ''))
        return absent('the server is not on a loopback address')
      const { status } = await greetingWith(subject, { host: 'evil.example' })
      if (status < 400) return failed(`a request for the host evil.example is answered with status ${status}`)
      return (await isRefusedAnyway(subject, status)) ? unchecked(REFUSED_ANYWAY) : passed
    },
  },
  {
    id: 'R072',
    level: 'must',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'One path supports POST and GET.',
    how: 'Sends GET to the path of POST.',
    fix: 'Answer GET at the same path: with a stream of events, or with 405.',
    async check(subject) {
      const { status } = await (await httpSession(subject)).get()
      return unless(status === 404 || status >= 500 ? `GET is answered with status ${status}` : undefined)
    },
  },
  {
    id: 'R074',
    level: 'convention',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'A POST whose Accept lacks one of the two types is answered with 406.',
    how: 'Sends a greeting with Accept: text/html.',
    fix: 'Answer with 406 unless Accept lists application/json and text/event-stream.',
    async check(subject) {
      const { status } = await greetingWith(subject, { accept: 'text/html' })
      return unless(status === 406 ? undefined : `Accept: text/html is answered with status ${status}`)
    },
  },
  {
    id: 'R075',
    level: 'convention',
    revisions: B_TO_E,
    transports: HTTP,
    rule: 'A POST that is not JSON is answered with 415.',
    how: 'Sends a greeting with Content-Type: text/plain.',
    fix: 'Answer with 415 unless the Content-Type is application/json; it also stops forms of web pages.',
    async check(subject) {
      const { status } = await greetingWith(subject, { 'content-type': 'text/plain' })
      return unless(status === 415 ? undefined : `Content-Type: text/plain is answered with status ${status}`)
    },
  },
  {
    id: 'R076',
    level: 'must',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'The POST of a notification is answered with 202 without a body, or with an error.',
    how: 'Sends notifications/initialized, the cancellation of an unknown request, and a response that nobody waits for.',
    fix: 'Answer with status 202 and no body.',
    async check(subject) {
      const session = await subject.session()
      for (const message of [
        { method: 'notifications/initialized' },
        { method: 'notifications/cancelled', params: { requestId: 'never-was' } },
        { id: 'never-was', result: {} },
      ]) {
        const http = await session.wire.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
        const verdict = acceptedEmpty(http, 'method' in message ? 'a notification' : 'a response')
        if (verdict.is !== 'passed') return verdict
      }
      return passed
    },
  },
  {
    id: 'R077',
    level: 'must',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'The POST of a request is answered with JSON or with a stream of events.',
    how: 'Sends ping, and looks at the Content-Type, and at what was posted back in the whole run.',
    fix: 'Send Content-Type: application/json with a message, or text/event-stream with events that have messages.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      const { http, problem } = await (await subject.shared()).request('ping')
      if (http === undefined) return failed(problem ?? 'there is no reply')
      const type = http.headers['content-type'] ?? ''
      if (!/^(?:application\/json|text\/event-stream)\b/i.test(type))
        return failed(`the Content-Type is "${type}"`)
      return noOtherText(subject)
    },
  },
  {
    id: 'R079',
    level: 'must',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'GET is answered with a stream of events or with 405.',
    how: 'Opens the GET stream of a session.',
    fix: 'Answer GET with Content-Type: text/event-stream, or with 405 if you have nothing to send.',
    async check(subject) {
      const { status, isStream } = await (await httpSession(subject)).get()
      return unless(
        status === 405 || (status === 200 && isStream)
          ? undefined
          : `GET is answered with status ${status}${status === 200 ? ', and not with a stream of events' : ''}`,
      )
    },
  },
  ...HTTP_SESSION_RULES,
  {
    id: 'R089',
    level: 'must',
    revisions: C_TO_D,
    transports: HTTP,
    rule: 'A request whose MCP-Protocol-Version is not supported is answered with 400.',
    how: 'Sends ping and GET with the version 1999-01-01.',
    fix: 'Check the header of every request after initialize.',
    async check(subject) {
      const session = await subject.session()
      const headers = { 'mcp-protocol-version': '1999-01-01' }
      const { http, problem } = await session.request('ping', undefined, { headers })
      if (http === undefined) return failed(problem ?? 'there is no reply')
      if (http.status !== 400) return failed(`the version 1999-01-01 is answered with status ${http.status}`)
      const { wire } = session
      if (!(wire instanceof HttpWire)) return passed
      const { status, close } = await wire.get({ headers })
      close()
      // A server need not have the method at all.
      return unless(
        status === 400 || status === 405
          ? undefined
          : `GET with the version 1999-01-01 is answered with status ${status}`,
      )
    },
  },
  {
    id: 'R090',
    level: 'should',
    revisions: C_TO_D,
    transports: HTTP,
    rule: 'A request without MCP-Protocol-Version is served.',
    how: 'Sends ping without the header.',
    fix: 'Assume 2025-03-26, or the version of the session, if the header is missing.',
    async check(subject) {
      const session = await subject.session()
      const { result, http, problem } = await session.request('ping', undefined, {
        headers: { 'mcp-protocol-version': undefined },
      })
      return unless(
        result !== undefined
          ? undefined
          : (problem ?? `ping without the header is answered with status ${http?.status ?? 0}`),
      )
    },
  },
  {
    id: 'R101',
    level: 'should',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'Several requests at once work.',
    how: 'Sends five pings at once.',
    fix: 'Keep no state that belongs to a single request in the session.',
    async check(subject) {
      const session = await subject.session()
      const replies = await Promise.all([1, 2, 3, 4, 5].map(() => session.request('ping')))
      const lost = replies.filter(({ result }) => result === undefined).length
      return unless(lost === 0 ? undefined : `${lost} of 5 requests at once got no result`)
    },
  },
]

/** Sends a greeting with changed headers. */
export async function greetingWith(
  subject: ServerSubject,
  headers: Readonly<{ [name: string]: string }>,
): Promise<HttpReply> {
  const isForeign = headers['host'] !== undefined
  const session = isForeign ? await subject.stranger() : await subject.silent()
  const message = session.isModern
    ? session.requestOf('server/discover', undefined)
    : session.requestOf('initialize', {
        protocolVersion: subject.revision,
        capabilities: {},
        clientInfo: OUR_INFO,
      })
  const { http, problem } = await session.exchange(message, {
    headers: { ...(isForeign && ownHeadersRemoved(subject)), ...headers },
    ms: Math.min(subject.ms, 2_000),
  })
  if (http === undefined) throw new Error(problem ?? 'there is no reply')
  return http
}

/** Why a refusal for another host says nothing. */
export const REFUSED_ANYWAY = 'the server refuses the same request for its own host, which has no credentials'

/** Whether a request without the headers of the user is refused with the same status for the right host, as protected servers do. */
export async function isRefusedAnyway(subject: ServerSubject, status: number): Promise<boolean> {
  const host = subject.door.url?.host
  return host !== undefined && (await greetingWith(subject, { host })).status === status
}

/** Something in front of the server may choose by Host who gets a request, so one for another host has no credentials. */
function ownHeadersRemoved({ door }: ServerSubject): Readonly<{ [name: string]: undefined }> {
  const names = Object.keys(door.headers ?? {})
  return Object.fromEntries(names.map((name) => [name.toLowerCase(), undefined]))
}

/** Sends a request of a foreign page in a session that was opened without it. */
async function foreignPing(
  subject: ServerSubject,
): Promise<{ readonly http: HttpReply | undefined; readonly wire: HttpWire }> {
  const session = await subject.session()
  if (!(session.wire instanceof HttpWire)) throw new Error('this check needs HTTP')
  const { http } = await session.request('ping', undefined, { headers: { origin: EVIL } })
  return { http, wire: session.wire }
}

/** Passes unless something else than a message was sent for a request, under the name of JSON or as an event. */
function noOtherText({ wires, trace }: ServerSubject): Verdict {
  for (const wire of wires) {
    if (!(wire instanceof HttpWire)) continue
    const odd = wire.received.find(
      ({ value, stream }) =>
        (typeof value !== 'object' || value === null) &&
        messagesIn(parsed(wire.posts.get(stream) ?? '')).some(isRequest),
    )
    if (odd !== undefined)
      return failed(
        `a request is answered with ${JSON.stringify(odd.text.slice(0, 150))}, which is no message`,
        trace.between(odd.at - 3, odd.at + 1),
      )
  }
  return passed
}

/** The connection of a session over HTTP. */
async function httpSession(subject: ServerSubject): Promise<HttpWire> {
  const { wire }: Session = await subject.session()
  if (wire instanceof HttpWire) return wire
  throw new Error('this check needs HTTP')
}

/** Whether a notification was accepted as it should be. */
export function acceptedEmpty(http: HttpReply | undefined, what: string = 'a notification'): Verdict {
  if (http === undefined) return unchecked('there is no reply')
  if (http.status >= 400) return passed
  if (http.status !== 202) return failed(`${what} is answered with status ${http.status} instead of 202`)
  return unless(http.body === '' ? undefined : `the reply to ${what} has a body`)
}
