import { isNotification, isObject, member, type Message, type Received } from '../message.ts'
import { absent, E_ONLY, failed, TRANSPORTS, unchecked, unless, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Session } from '../session.ts'
import { HttpWire } from '../wire-http.ts'
import { isResponseTo, type HttpReply } from '../wire.ts'
import { CHANGES, SUBSCRIPTION_ID } from './changes.ts'
import { isEnded } from './broken-streams.ts'

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
/** How long to look for an end. */
const QUIET_MS = 150

/** Rules about subscriptions at 2026-07-28. */
export const SUBSCRIPTION_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R228',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'subscriptions/listen is first answered with what is honoured, and everything on it names the subscription.',
    how: 'Listens for changes of a list and then for nothing, and looks at what comes in the next moment.',
    fix: 'Send notifications/subscriptions/acknowledged first, with what is honoured, and with the id of the request in _meta.',
    async check(subject) {
      const listened = await listen(subject)
      if (listened === undefined) return absent('the server announces no changes')
      const { id, messages } = listened
      const [first] = messages
      if (first === undefined) return failed('subscriptions/listen is not acknowledged')
      if (first['method'] !== ACKNOWLEDGED)
        return failed(`the first message is ${JSON.stringify(first).slice(0, 150)}`)
      if (!isObject(member(first, 'params', 'notifications')))
        return failed('the acknowledgment does not say what is honoured')
      const wrong = messages.find(
        (message) => isNotification(message) && member(message, 'params', '_meta', SUBSCRIPTION_ID) !== id,
      )
      if (wrong !== undefined)
        return failed(
          `the subscription id of ${String(wrong['method'])} is ${JSON.stringify(member(wrong, 'params', '_meta', SUBSCRIPTION_ID))} instead of ${JSON.stringify(id)}`,
        )
      const [answer] = (await listenTo(subject, {})).messages
      if (answer === undefined) return failed('subscriptions/listen for nothing is not acknowledged')
      // A server may refuse what asks for nothing.
      return unless(
        answer['method'] === ACKNOWLEDGED || Object.hasOwn(answer, 'error')
          ? undefined
          : `the first message on a subscription to nothing is ${JSON.stringify(answer).slice(0, 150)}`,
      )
    },
  },
  {
    id: 'R229',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'Only what was asked for is acknowledged and sent.',
    how: 'Listens for changes of one list only, and looks at what comes in the next moment.',
    fix: 'Acknowledge and send only the kinds in the request.',
    async check(subject) {
      const listened = await listen(subject)
      if (listened === undefined) return absent('the server announces no changes')
      const { messages, kind, method } = listened
      const acknowledged = member(messages[0], 'params', 'notifications')
      if (!isObject(acknowledged)) return unchecked('the server acknowledges nothing')
      const more = Object.entries(acknowledged).filter(
        ([key, value]) => key !== kind && value !== false && !isEmpty(value),
      )
      if (more.length > 0)
        return failed(
          `the server also acknowledges ${more
            .slice(0, 5)
            .map(([key]) => key)
            .join(', ')}`,
        )
      const other = messages.find((message) => CHANGES.has(message['method']) && message['method'] !== method)
      return unless(other && `the server also sends ${String(other['method'])}`)
    },
  },
  {
    id: 'R230',
    level: 'should',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A server that ends a subscription sends an empty result first, which names the subscription.',
    how: 'Listens for a moment, and looks at the end if the server ends the subscription.',
    fix: 'Answer the request with { "resultType": "complete" } and the subscription id in _meta.',
    async check(subject) {
      const listened = await listen(subject)
      if (listened === undefined) return absent('the server announces no changes')
      const { id, session, http } = listened
      const end = await session.wire.wait(isResponseTo(id), { ms: QUIET_MS })
      const answer = end?.messages.find((message) => message['id'] === id)
      if (answer === undefined) {
        const isOver = http?.isStream === true && (await isEnded(http, QUIET_MS))
        return isOver
          ? failed('a subscription was ended without a result')
          : absent('the server ended no subscription')
      }
      const result = answer['result']
      // An error refuses the subscription, so it never began.
      if (!isObject(result)) return absent('the server refused the subscription')
      const more = Object.keys(result).filter((key) => key !== 'resultType' && key !== '_meta')
      if (more.length > 0) return failed(`the result of a subscription has ${more.slice(0, 5).join(', ')}`)
      return unless(
        member(result, '_meta', SUBSCRIPTION_ID) === id
          ? undefined
          : 'the result of a subscription does not name it',
      )
    },
  },
]

/** Whether a list of what is honoured has nothing in it. */
function isEmpty(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0)
}

/** What came on a subscription in the first moment. */
interface Heard {
  readonly session: Session
  readonly http: HttpReply | undefined
  readonly id: unknown
  /** What came, on its stream over HTTP. */
  readonly messages: readonly Message[]
}

interface Listened extends Heard {
  readonly kind: string
  /** The notification about changes of this kind. */
  readonly method: string
}

/** Listens for changes of one list; undefined if the server announces none. */
async function listen(subject: ServerSubject): Promise<Listened | undefined> {
  const capabilities = await subject.capabilities()
  const name = ['tools', 'prompts', 'resources'].find(
    (one) => member(capabilities, one, 'listChanged') === true,
  )
  if (name === undefined) return undefined
  const kind = `${name}ListChanged`
  const heard = await listenTo(subject, { [kind]: true })
  return { ...heard, kind, method: `notifications/${name}/list_changed` }
}

async function listenTo(subject: ServerSubject, notifications: Message): Promise<Heard> {
  const session = await subject.session()
  const message = session.requestOf('subscriptions/listen', { notifications })
  const from = subject.trace.mark
  const http = await session.wire.send(JSON.stringify(message), { headers: session.headersOf(message) })
  const { wire } = session
  const isOwn = ({ stream }: Received): boolean => !(wire instanceof HttpWire) || stream === http?.stream
  await wire.wait(isOwn, { from, ms: Math.min(subject.ms, 2_000) })
  await wire.wait(() => false, { from, ms: QUIET_MS })
  const messages = wire.received.filter((one) => one.at >= from && isOwn(one)).flatMap((one) => one.messages)
  return { session, http, id: message['id'], messages }
}
