import type { Revision } from '../../protocol/revisions.ts'
import type { ClientSubject } from '../client-subject.ts'
import type { Scenario } from '../client/scenario.ts'
import { isProbe, type Heard, type Visit } from '../client/visit.ts'
import { isObject, isRequest, member, type Message } from '../message.ts'
import {
  A_TO_D,
  C_TO_D,
  E_ONLY,
  passed,
  TRANSPORTS,
  unchecked,
  type Level,
  type Rule,
  type Verdict,
} from '../rule.ts'
import { CLIENT_CAPABILITIES, CLIENT_INFO, OUR_INFO, PROTOCOL_VERSION } from '../session.ts'
import { broken, everyVisit, shown } from './verdicts.ts'

/** A version that no client knows. */
const UNKNOWN_VERSION = '1999-01-01'
/** How long the slow server takes to answer `initialize`. */
const SLOW_MS = 150
/** So many requests after a refusal are a loop. */
const MANY = 6

/** Rules about the beginning of a conversation, its version and its capabilities. */
export const CLIENT_LIFECYCLE_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R030',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'The first request is initialize, with protocolVersion, capabilities and clientInfo.',
    how: 'Looks at the first request; requests of 2026-07-28 may come before.',
    fix: 'Send initialize first, with protocolVersion, capabilities and clientInfo { name, version }.',
    isLast: true,
    check: (subject) => everyVisit(subject, wrongGreeting),
  },
  {
    id: 'R034',
    level: 'should',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A client disconnects if it does not support the version of the server.',
    how: `Answers initialize with the version ${UNKNOWN_VERSION}.`,
    fix: 'Compare the version in the result with those that you support, and close the connection.',
    async check(subject) {
      const visit = await subject.visit(UNKNOWN)
      const at = visit.requests('initialize').at(-1)?.seen.at
      if (at === undefined) return unchecked('the client sends no initialize')
      const later = visit.heard.find(
        ({ message, seen }) =>
          seen.at > at && message['method'] !== 'notifications/cancelled' && !isProbe(message),
      )
      return later === undefined
        ? passed
        : broken(visit, later.seen, `the client goes on with ${shown(later.message['method'])}`)
    },
  },
  {
    id: 'R035',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A client sends notifications/initialized after the result of initialize.',
    how: 'Looks for the notification in every conversation.',
    fix: 'Send notifications/initialized when the result has come.',
    isLast: true,
    check: (subject) =>
      everyVisit(subject, (visit) => {
        if (visit.notes.has('refused')) return unchecked('the server refused the client')
        if (visit.heard.some(({ message }) => message['method'] === 'notifications/initialized'))
          return passed
        return visit.steps === 0
          ? unchecked('the client leaves after initialize')
          : broken(visit, undefined, 'the client sends requests, and never notifications/initialized')
      }),
  },
  {
    id: 'R036',
    level: 'should',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'Before the result of initialize a client sends nothing but pings.',
    how: `Answers initialize after ${SLOW_MS} ms, and looks at what comes before that.`,
    fix: 'Wait for the result of initialize before you send anything else.',
    async check(subject) {
      const visit = await subject.visit(SLOW)
      const greeting = visit.exchange('initialize')
      if (greeting === undefined) return unchecked('the client sends no initialize')
      const early = visit.heard.find(
        ({ message, seen }) =>
          seen.at > greeting.from &&
          seen.at < greeting.to &&
          !isProbe(message) &&
          !['ping', 'notifications/cancelled'].includes(String(message['method'])),
      )
      return early === undefined
        ? passed
        : broken(visit, early.seen, `the client sends ${shown(early.message['method'])} before the result`)
    },
  },
  negotiated('R038', 'should', ['2024-11-05', '2025-03-26']),
  negotiated('R039', 'must', C_TO_D),
  {
    id: 'R040',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'ping is answered promptly with an empty result.',
    how: 'Sends ping before the response to the first request.',
    fix: 'Answer ping with "result": {}.',
    async check(subject) {
      const visit = await subject.usual()
      const pings = visit.asked.filter(({ method }) => method === 'ping')
      if (pings.length === 0) return unchecked('the client sends no request after initialize')
      for (const { answers, at } of pings) {
        const [answer] = answers
        if (answer === undefined)
          return visit.seen.some((one) => one.at > at)
            ? broken(visit, { at }, 'the client does not answer ping')
            : unchecked('the client left before it could answer')
        const result = member(answer.message, 'result')
        if (!isObject(result) || Object.keys(result).some((key) => key !== '_meta'))
          return broken(visit, answer.seen, `ping is answered with ${shown(answer.message)}`)
      }
      return passed
    },
  },
  {
    id: 'R041',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A client never cancels initialize.',
    how: `Answers initialize after ${SLOW_MS} ms, and looks at every notifications/cancelled.`,
    fix: 'Close the connection instead.',
    isLast: true,
    async check(subject) {
      await subject.visit(SLOW)
      return everyVisit(subject, (visit) => {
        const greetings = visit.requests('initialize')
        const ids = new Set(greetings.map(({ message }) => message['id']))
        const wrong = visit.heard.find(
          ({ message }) =>
            message['method'] === 'notifications/cancelled' &&
            ids.has(member(message, 'params', 'requestId')),
        )
        if (wrong !== undefined) return broken(visit, wrong.seen, 'the client cancels initialize')
        return greetings.length > 0 ? passed : unchecked('the client sends no initialize')
      })
    },
  },
  {
    id: 'R042',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'Each request has the protocol version and the capabilities of the client in its _meta.',
    how: 'Looks at every request.',
    fix: `Add _meta["${PROTOCOL_VERSION}"] and _meta["${CLIENT_CAPABILITIES}"] to every request.`,
    isLast: true,
    check: (subject) =>
      everyRequest(subject, (message) => {
        const version = member(message, 'params', '_meta', PROTOCOL_VERSION)
        if (typeof version !== 'string')
          return `${shown(message['method'])} has no protocol version in its _meta`
        return isObject(member(message, 'params', '_meta', CLIENT_CAPABILITIES))
          ? undefined
          : `${shown(message['method'])} has no capabilities in its _meta`
      }),
  },
  {
    id: 'R043',
    level: 'should',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'Each request has the name and the version of the client in its _meta.',
    how: 'Looks at every request.',
    fix: `Add _meta["${CLIENT_INFO}"] with a name and a version to every request.`,
    isLast: true,
    check: (subject) =>
      everyRequest(subject, (message) =>
        isInfo(member(message, 'params', '_meta', CLIENT_INFO))
          ? undefined
          : `${shown(message['method'])} has no clientInfo in its _meta`,
      ),
  },
  {
    id: 'R047',
    level: 'should',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A client whose version is refused tries once more with a version of the server, or gives up.',
    how: 'Refuses the first request with -32022 and a version of the client; and in another run all requests, with an unknown version.',
    fix: 'Choose a version from data.supported, and send the request again once.',
    async check(subject) {
      const [once, always] = await Promise.all([subject.visit(REFUSED), subject.visit(REFUSED_ALWAYS)])
      const again = once.ownRequests()
      if (again.length === 0) return unchecked('the client sends no request')
      if (again.length === 1)
        return broken(
          once,
          again[0]?.seen,
          'the client gives up, although the server names a version that both support',
        )
      const loop = always.ownRequests()
      return loop.length < MANY
        ? passed
        : broken(always, loop.at(-1)?.seen, `the client sends ${loop.length} requests that are all refused`)
    },
  },
]

const UNKNOWN: Scenario = {
  name: 'unknown-version',
  does: 'offers a version that no client knows',
  revisions: A_TO_D,
  transports: TRANSPORTS,
  begin: () => ({
    async message(turn) {
      if (turn.method !== 'initialize') return false
      turn.visit.notes.set('refused', true)
      await turn.reply({
        protocolVersion: UNKNOWN_VERSION,
        capabilities: { tools: {} },
        serverInfo: OUR_INFO,
      })
      return true
    },
  }),
}

const SLOW: Scenario = {
  name: 'slow-start',
  does: 'takes a moment to answer initialize',
  revisions: A_TO_D,
  transports: TRANSPORTS,
  begin: () => ({
    async message(turn) {
      if (turn.method === 'initialize') await new Promise((resolve) => setTimeout(resolve, SLOW_MS))
      return false
    },
  }),
}

const TOOLS_ONLY: Scenario = {
  name: 'tools-only',
  does: 'offers tools and nothing else',
  revisions: C_TO_D,
  transports: TRANSPORTS,
  begin: () => ({ offer: (offer) => ({ ...offer, capabilities: { tools: {} } }) }),
}

/** Refuses requests with -32022; `supported` names the versions of the server. */
function refusing(
  name: string,
  does: string,
  supported: (revision: string) => string,
  isOnce: boolean,
): Scenario {
  return {
    name,
    does,
    revisions: E_ONLY,
    transports: TRANSPORTS,
    official: 'request-metadata',
    begin: () => ({
      async message(turn) {
        if (!turn.isRequest || turn.method === 'initialize') return false
        if (isOnce && turn.visit.notes.has('refused')) return false
        turn.visit.notes.set('refused', true)
        const requested = member(turn.params, '_meta', PROTOCOL_VERSION)
        await turn.fail(
          -32_022,
          'Unsupported protocol version',
          { supported: [supported(turn.revision)], requested },
          400,
        )
        return true
      },
    }),
  }
}

const REFUSED = refusing(
  'version-refused',
  'refuses the first request for its version',
  (revision) => revision,
  true,
)
const REFUSED_ALWAYS = refusing(
  'version-unknown',
  'supports no version of the client',
  () => '2099-01-01',
  false,
)

function isInfo(value: unknown): boolean {
  return typeof member(value, 'name') === 'string' && typeof member(value, 'version') === 'string'
}

function wrongGreeting(visit: Visit): Verdict {
  const first = visit.ownRequests().find(({ message }) => message['method'] !== 'ping')
  if (first === undefined) return unchecked('the client sends no request')
  const { message, seen } = first
  if (message['method'] !== 'initialize')
    return broken(visit, seen, `the first request is ${shown(message['method'])}`)
  const params = message['params']
  if (typeof member(params, 'protocolVersion') !== 'string')
    return broken(visit, seen, 'initialize has no protocolVersion')
  if (!isObject(member(params, 'capabilities'))) return broken(visit, seen, 'initialize has no capabilities')
  return isInfo(member(params, 'clientInfo'))
    ? passed
    : broken(visit, seen, 'initialize has no clientInfo with a name and a version')
}

/** Whether a request is about something that a server with tools only does not offer. */
function isUndeclared(message: Message): boolean {
  const method = String(message['method'])
  if (method === 'tools/call') return member(message, 'params', 'task') !== undefined
  return /^(?:resources|prompts|completion|logging|tasks)\//.test(method)
}

/** Looks at every request of 2026-07-28. */
async function everyRequest(
  subject: ClientSubject,
  wrong: (message: Message) => string | undefined,
): Promise<Verdict> {
  return everyVisit(subject, (visit) => {
    const requests = visit.ownRequests().filter(({ message }: Heard) => isRequest(message))
    for (const { message, seen } of requests) {
      const found = wrong(message)
      if (found !== undefined) return broken(visit, seen, found)
    }
    return requests.length > 0 ? passed : unchecked('the client sends no request')
  })
}

/** The rule about capabilities, which was advice at first. */
function negotiated(id: string, level: Level, revisions: readonly Revision[]): Rule<ClientSubject> {
  return {
    id,
    level,
    revisions,
    transports: TRANSPORTS,
    rule: 'A client uses only the capabilities that were negotiated.',
    how: 'Declares tools only, and looks for requests about anything else.',
    fix: 'Look at the capabilities of the server before you use a feature.',
    async check(subject) {
      const visit = await subject.visit(TOOLS_ONLY)
      const wrong = visit.ownRequests().find(({ message }) => isUndeclared(message))
      if (wrong !== undefined)
        return broken(
          visit,
          wrong.seen,
          `the server offers tools only, and the client sends ${shown(wrong.message['method'])}`,
        )
      return visit.steps > 0 ? passed : unchecked('the client sends no request after initialize')
    },
  }
}
