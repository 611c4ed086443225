import { isLoopback } from '../../base/loopback.ts'
import { parseUrl } from '../../protocol/url.ts'
import { httpCall } from '../http-call.ts'
import {
  ALL,
  absent,
  failed,
  passed,
  TRANSPORTS,
  unchecked,
  unless,
  type Rule,
  type Transport,
} from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { HttpReply } from '../wire.ts'
import { WsWire } from '../wire-ws.ts'
import { greetingWith, isRefusedAnyway, REFUSED_ANYWAY } from './http-requests.ts'

const WEB: readonly Transport[] = ['http', 'sse']
const EVIL = 'http://evil.example'
/** Begins like this machine, and belongs to somebody else. */
const LIKE_OURS = ['localhost.evil.example', '127.0.0.1.evil.example']

/** Our own checks of what a web page, a cache or a stranger could do with a server. */
export const WEB_SAFETY_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V030',
    level: 'convention',
    revisions: ALL,
    transports: WEB,
    rule: 'A browser cannot take a reply for a web page.',
    how: 'Looks at the Content-Type and X-Content-Type-Options of replies to a request, to broken JSON and to GET.',
    fix: 'Send JSON, events or plain text with their Content-Type, and X-Content-Type-Options: nosniff with everything else.',
    async check(subject) {
      const odd = (await repliesOf(subject)).find(
        ([, { body, isStream, headers }]) =>
          (body !== '' || isStream) &&
          !/^(?:application\/(?:[\w.-]+\+)?json|text\/event-stream|text\/plain)\b/i.test(
            headers['content-type'] ?? '',
          ) &&
          headers['x-content-type-options']?.toLowerCase() !== 'nosniff',
      )
      if (odd === undefined) return passed
      const type = odd[1].headers['content-type']
      return failed(
        `the reply to ${odd[0]} has ${type === undefined ? 'no Content-Type' : `the Content-Type "${type}"`}, and no X-Content-Type-Options: nosniff`,
      )
    },
  },
  {
    id: 'V031',
    level: 'convention',
    revisions: ALL,
    transports: WEB,
    rule: 'Replies are not stored by caches that others share.',
    how: 'Looks at the Cache-Control of replies to a request, to broken JSON and to GET.',
    fix: 'Send Cache-Control: no-store, or leave it out for replies to POST; they may belong to one user only.',
    async check(subject) {
      const stored = (await repliesOf(subject)).find(([, { headers }]) => {
        const value = headers['cache-control'] ?? ''
        return (
          !/\b(?:private|no-store)\b/i.test(value) &&
          /\bpublic\b|\b(?:s-maxage|max-age)\s*=\s*"?[1-9]/i.test(value)
        )
      })
      return unless(
        stored && `the reply to ${stored[0]} has Cache-Control: ${stored[1].headers['cache-control'] ?? ''}`,
      )
    },
  },
  {
    id: 'V032',
    level: 'should',
    revisions: ALL,
    transports: WEB,
    rule: 'Web pages of others cannot use the cookies and logins of a user.',
    how: `Asks as a browser does for a page at ${EVIL} (OPTIONS), and sends a greeting with this Origin.`,
    fix: 'Name the pages that may use the server in Access-Control-Allow-Origin; never allow credentials for any page.',
    async check(subject) {
      const asked = await probe(subject, 'OPTIONS', {
        origin: EVIL,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,authorization',
      })
      for (const { headers } of [asked, await greetingWith(subject, { origin: EVIL })]) {
        const origin = headers['access-control-allow-origin'] ?? ''
        const allows = headers['access-control-allow-credentials']?.toLowerCase() === 'true'
        if (allows && (origin === '*' || origin === EVIL))
          return failed(`a page at ${EVIL} may send credentials: Access-Control-Allow-Origin is ${origin}`)
      }
      return passed
    },
  },
  {
    id: 'V033',
    level: 'should',
    revisions: ALL,
    transports: WEB,
    rule: 'The check of Origin compares the whole of it.',
    how: `Sends greetings with the Origins null and ${LIKE_OURS.map((host) => `http://${host}`).join(' and ')}.`,
    fix: 'Compare scheme, host and port as a whole; refuse "null", which any page can send.',
    async check(subject) {
      if ((await greetingWith(subject, { origin: EVIL })).status < 400)
        return unchecked('the server does not check Origin at all')
      for (const origin of ['null', ...LIKE_OURS.map((host) => `http://${host}`)]) {
        const { status } = await greetingWith(subject, { origin })
        if (status < 400) return failed(`the Origin ${origin} is answered with status ${status}`)
      }
      return passed
    },
  },
  {
    id: 'V034',
    level: 'should',
    revisions: ALL,
    transports: WEB,
    rule: 'A server on this machine compares the whole Host.',
    how: `Sends greetings for the hosts ${LIKE_OURS.join(' and ')} to a server on a loopback address.`,
    fix: 'Compare the whole name; a name that only begins with localhost belongs to somebody else.',
    async check(subject) {
      if (!isLoopback(subject.door.url?.hostname ?? ''))
        return absent('the server is not on a loopback address')
      const other = await greetingWith(subject, { host: 'evil.example' })
      if (other.status < 400) return unchecked('the server does not check Host at all')
      if (await isRefusedAnyway(subject, other.status)) return unchecked(REFUSED_ANYWAY)
      for (const host of LIKE_OURS) {
        const { status } = await greetingWith(subject, { host })
        if (status < 400) return failed(`a request for the host ${host} is answered with status ${status}`)
      }
      return passed
    },
  },
  {
    id: 'V035',
    level: 'should',
    revisions: ALL,
    transports: ['ws'],
    rule: 'A WebSocket server checks Origin, and Host on this machine, so that web pages of others cannot use it.',
    how: `Opens connections with the Origin ${EVIL} and for the host evil.example.`,
    fix: 'Refuse the handshake with status 403 if you do not know the Origin: browsers do not do it for you.',
    async check({ door: { url, headers = {} }, trace, ms }) {
      if (url === undefined) return unchecked('the address is not known')
      const foreign = { origin: EVIL, ...(isLoopback(url.hostname) && { host: 'evil.example' }) }
      for (const [name, value] of Object.entries(foreign)) {
        // One for another host has no credentials: something in front of the server may choose by Host who gets it.
        const isForeign = name === 'host'
        const all = isForeign ? { host: value } : { ...headers, [name]: value }
        const address = isForeign ? parseUrl(`${url.protocol}//${url.host}${url.pathname}`) : url
        const wire = await WsWire.open(address, all, trace, ms).catch(() => undefined)
        await wire?.close()
        if (wire !== undefined) return failed(`a connection with the ${name} ${value} is accepted`)
      }
      return passed
    },
  },
  {
    id: 'V036',
    level: 'should',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Errors show no stack traces.',
    how: 'Sends an unknown method, and broken JSON over HTTP; then looks at every error of the run.',
    fix: 'Answer with a message, and write the stack trace to your log: it shows paths and versions to strangers.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      if (WEB.includes(subject.transport)) await repliesOf(subject)
      const errors = subject.wires
        .flatMap(({ received }) => received)
        .filter(
          ({ text, messages }) => messages.some((one) => one['error'] !== undefined) && STACK.test(text),
        )
        .map(({ at }) => at)
      const shown = subject.trace
        .between(0, undefined, Infinity)
        .filter(
          ({ at, from, text, http }) =>
            from === 'peer' && (errors.includes(at) || ((http?.status ?? 0) >= 400 && STACK.test(text))),
        )
      return shown.length === 0 && errors.length === 0
        ? passed
        : failed('an error shows a stack trace', shown.slice(0, 2))
    },
  },
]

/** The lines of stack traces, also in JSON and HTML. */
const STACK =
  /(?:\n|\\n|;|<br>)\s{0,20}at [^\n]{1,200}:\d+:\d+|Traceback \(most recent call last\)|File \\?"[^"\n]{1,200}\\?", line \d+, in |goroutine \d+ \[running\]|\bat [\w.$]+\([\w$]+\.java:\d+\)/

/** Replies of the kinds that a stranger can get. */
function repliesOf(subject: ServerSubject): Promise<readonly (readonly [string, HttpReply])[]> {
  return subject.once('web replies', async () => {
    const { http } = await (await subject.shared()).request(subject.isModern ? 'server/discover' : 'ping')
    return [
      ...(http === undefined ? [] : [['a request', http] as const]),
      ['broken JSON', await probe(subject, 'POST', { 'content-type': 'application/json' }, '{')],
      ['GET', await probe(subject, 'GET', { accept: 'text/event-stream' })],
    ]
  })
}

/** Sends a request to the address of the server; a stream is closed at once. */
async function probe(
  { door: { url, headers = {} }, trace, ms }: ServerSubject,
  method: string,
  more: Readonly<{ [name: string]: string }>,
  body?: string,
): Promise<HttpReply> {
  if (url === undefined) throw new Error('the address is not known')
  const reply = await httpCall(url, { method, headers: { ...headers, ...more }, body, ms }, trace)
  if (reply.isStream) reply.close()
  return reply
}
