import type { ClientSubject } from '../client-subject.ts'
import type { EventStream } from '../client/http-exchange.ts'
import type { Scenario } from '../client/scenario.ts'
import { SESSION_ID } from '../client/serve-http.ts'
import { isProbe, type HttpSeen, type Seen, type Visit } from '../client/visit.ts'
import { isRequest } from '../message.ts'
import {
  absent,
  B_TO_D,
  B_TO_E,
  C_TO_D,
  D_ONLY,
  passed,
  unchecked,
  type Rule,
  type Transport,
  type Verdict,
} from '../rule.ts'
import { OUR_INFO } from '../session.ts'
import { polls, RETRY_MS } from './polling.ts'
import { broken, everyVisit, shown } from './verdicts.ts'

const HTTP: readonly Transport[] = ['http']

/** Rules about Streamable HTTP. */
export const CLIENT_HTTP_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R073',
    level: 'must',
    revisions: B_TO_E,
    transports: HTTP,
    rule: 'Accept of each POST lists application/json and text/event-stream.',
    how: 'Looks at every POST.',
    fix: 'Send Accept: application/json, text/event-stream with each POST.',
    isLast: true,
    check: (subject) =>
      everyVisit(subject, (visit) => {
        const posts = posted(visit)
        const wrong = posts.find(({ http }) => {
          const accept = (http.headers['accept'] ?? '').toLowerCase()
          return !accept.includes('application/json') || !accept.includes('text/event-stream')
        })
        if (wrong !== undefined)
          return broken(visit, wrong, `a POST has Accept: ${wrong.http.headers['accept'] ?? '(none)'}`)
        return posts.length > 0 ? passed : unchecked('the client sends no POST')
      }),
  },
  {
    id: 'R078',
    level: 'must',
    revisions: B_TO_E,
    transports: HTTP,
    rule: 'A client accepts replies as JSON and as a stream of events.',
    how: 'Answers all requests with JSON, and in another run with streams of events.',
    fix: 'Look at the Content-Type of each reply.',
    async check(subject) {
      const [json, streams] = await Promise.all([
        subject.visit(JSON_REPLIES),
        subject.visit(STREAMED_REPLIES),
      ])
      if (json.steps === 0 && streams.steps === 0)
        return unchecked('the client sends no request after the first one')
      if (json.steps === 0) return broken(json, undefined, 'the client does not go on after a reply as JSON')
      return streams.steps > 0
        ? passed
        : broken(streams, undefined, 'the client does not go on after a reply as a stream of events')
    },
  },
  {
    id: 'R083',
    level: 'must',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'The session id is a header of all requests after initialize.',
    how: 'Gives the client a session id, and looks at all later requests.',
    fix: 'Send Mcp-Session-Id with each POST, GET and DELETE after initialize.',
    check: (subject) =>
      laterRequests(subject, ({ http }) =>
        http.headers['mcp-session-id'] === SESSION_ID
          ? undefined
          : `${http.method} has the session id ${shown(http.headers['mcp-session-id'])}`,
      ),
  },
  {
    id: 'R086',
    level: 'must',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'A client whose session has ended begins a new one, without a session id.',
    how: 'Answers the first request with 404, as if the session had ended.',
    fix: 'After 404 for a request with a session id, send initialize without one.',
    async check(subject) {
      const visit = await subject.visit(LOST_SESSION)
      const at = visit.notes.get('lost')
      if (typeof at !== 'number') return unchecked('the client sends no request with a session id')
      const again = visit.requests('initialize').find(({ seen }) => seen.at > at)
      if (again === undefined) return broken(visit, { at }, 'the client does not initialize again after 404')
      return again.seen.http?.headers['mcp-session-id'] === undefined
        ? passed
        : broken(visit, again.seen, 'the client sends the session id that has ended with initialize')
    },
  },
  {
    id: 'R087',
    level: 'should',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'A client that leaves deletes its session.',
    how: 'Looks for DELETE at the end.',
    fix: 'Send DELETE with the session id before you end.',
    async check(subject) {
      const visit = await subject.usual()
      if (!visit.hasLeft) return unchecked(`the client did not leave by itself: ${visit.ending}`)
      if (visit.exchange('initialize') === undefined) return unchecked('the client sends no initialize')
      return visit.http('DELETE').some(({ http }) => http.headers['mcp-session-id'] === SESSION_ID)
        ? passed
        : broken(visit, visit.seen.at(-1), 'the client leaves without DELETE')
    },
  },
  {
    id: 'R088',
    level: 'must',
    revisions: C_TO_D,
    transports: HTTP,
    rule: 'The negotiated version is the header MCP-Protocol-Version of all requests after initialize.',
    how: 'Looks at all requests after initialize.',
    fix: 'Send MCP-Protocol-Version with the version in the result of initialize.',
    check: (subject) =>
      laterRequests(subject, ({ http }) =>
        http.headers['mcp-protocol-version'] === subject.revision
          ? undefined
          : `${http.method} has MCP-Protocol-Version: ${http.headers['mcp-protocol-version'] ?? '(none)'}`,
      ),
  },
  {
    id: 'R095',
    level: 'must',
    revisions: D_ONLY,
    transports: HTTP,
    rule: 'A client waits for the time in "retry", and then asks for the rest of a stream with Last-Event-ID.',
    how: `Closes the stream of a call, and one that began with GET, after an event with an id, and with a retry of ${RETRY_MS} ms.`,
    fix: 'When a stream ends before the response, or one that began with GET ends, wait, and send GET with Last-Event-ID.',
    check: polls,
  },
  {
    id: 'R100',
    level: 'should',
    revisions: B_TO_E,
    transports: HTTP,
    rule: 'A client that supports the older HTTP+SSE opens its stream if POST is refused, and sends messages to the place that the stream names.',
    how: 'Refuses POST with 405, and answers GET with a stream whose first event is "endpoint".',
    fix: 'After 400, 404 or 405 for initialize, send GET, wait for the event "endpoint", and send messages to its URL.',
    async check(subject) {
      const visit = await subject.visit(OLDER)
      const opened = visit.http('GET').find(({ http }) => isStreamRequest(http))
      if (opened === undefined) return absent('the client does not support HTTP+SSE')
      const later = visit.http('POST').filter(({ at }) => at > opened.at)
      if (later.length === 0) return unchecked('the client opens the stream, and sends nothing')
      const wrong = later.find(({ http }) => !http.path.startsWith('/messages'))
      return wrong === undefined
        ? passed
        : broken(
            visit,
            wrong,
            `the client sends a message to ${wrong.http.path}, and the stream names /messages`,
          )
    },
  },
]

type HttpRequest = Seen & { readonly http: HttpSeen }

/** The POSTs to the server itself; a client may look for a login elsewhere. */
export function posted(visit: Visit): readonly HttpRequest[] {
  return visit.http('POST').filter(({ http }) => http.path.split('?')[0] === '/mcp')
}

function isStreamRequest({ path, headers }: HttpSeen): boolean {
  return path.split('?')[0] === '/mcp' && (headers['accept'] ?? '').includes('text/event-stream')
}

/** Looks at all requests after the result of initialize. */
async function laterRequests(
  subject: ClientSubject,
  wrong: (seen: HttpRequest) => string | undefined,
): Promise<Verdict> {
  const visit = await subject.usual()
  const from = visit.exchange('initialize')?.to
  if (from === undefined) return unchecked('the client sends no initialize')
  const later = ['POST', 'GET', 'DELETE']
    .flatMap((method) => visit.http(method))
    .filter(
      ({ at, http, messages }) =>
        at > from &&
        http.path.split('?')[0] === '/mcp' &&
        !messages.some((message) => message['method'] === 'initialize' || isProbe(message)),
    )
  for (const seen of later) {
    const found = wrong(seen)
    if (found !== undefined) return broken(visit, seen, found)
  }
  return later.length > 0 ? passed : unchecked('the client sends nothing after initialize')
}

const JSON_REPLIES: Scenario = {
  name: 'json-replies',
  does: 'answers all requests with JSON',
  revisions: B_TO_E,
  transports: HTTP,
  begin: () => ({
    message(turn) {
      // Without questions the usual server has no need for a stream.
      turn.visit.notes.set('knocked', true)
      return false
    },
  }),
}

const STREAMED_REPLIES: Scenario = {
  name: 'streamed-replies',
  does: 'answers all requests with streams of events',
  revisions: B_TO_E,
  transports: HTTP,
  begin: () => ({
    message(turn) {
      turn.visit.notes.set('knocked', true)
      if (turn.isRequest && (turn.visit.isModern || !isProbe(turn.message))) turn.channel.openStream()
      return false
    },
  }),
}

const LOST_SESSION: Scenario = {
  name: 'lost-session',
  does: 'forgets its session after initialize',
  revisions: B_TO_D,
  transports: HTTP,
  begin: () => ({
    http(exchange) {
      const { seen, visit } = exchange
      const [message] = seen.messages
      const isFirst = message !== undefined && isRequest(message) && !visit.notes.has('lost')
      if (!isFirst || seen.http.headers['mcp-session-id'] === undefined || isProbe(message)) return false
      visit.notes.set('lost', seen.at)
      const error = { code: -32_001, message: 'Session not found' }
      exchange.answer(404, JSON.stringify({ jsonrpc: '2.0', id: null, error }))
      return true
    },
  }),
}

const OLDER: Scenario = {
  name: 'older-server',
  does: 'speaks the older HTTP+SSE only',
  revisions: B_TO_E,
  transports: HTTP,
  official: 'initialize',
  isApart: true,
  begin() {
    let events: EventStream | undefined
    return {
      http(exchange) {
        const { method, path } = exchange.seen.http
        if (method === 'GET' && path === '/mcp') {
          events = exchange.events()
          events.event({ type: 'endpoint', data: '/messages?session=1' })
        } else if (method === 'POST' && path.startsWith('/messages')) {
          exchange.answer(202)
          answerOlder(exchange.seen, events)
        } else exchange.answer(path === '/mcp' ? 405 : 404, '', { allow: 'GET' })
        return true
      },
    }
  },
}

/** Answers as a server of 2024-11-05 that offers nothing. */
function answerOlder({ messages }: Seen, events: EventStream | undefined): void {
  for (const message of messages.filter(isRequest)) {
    const isGreeting = message['method'] === 'initialize'
    const result = { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: OUR_INFO }
    const error = { code: -32_601, message: 'Method not found' }
    const response = { jsonrpc: '2.0', id: message['id'], ...(isGreeting ? { result } : { error }) }
    events?.event({ type: 'message', data: JSON.stringify(response) })
  }
}
