import { isObject, member, type Received } from '../message.ts'
import { absent, E_ONLY, failed, passed, TRANSPORTS, unless, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Session } from '../session.ts'
import { isResponseTo, type HttpReply } from '../wire.ts'
import { isEnded } from './http-streams.ts'

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
/** How long to look for an end. */
const QUIET_MS = 150
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'

/** Rules about subscriptions at 2026-07-28. */
export const SUBSCRIPTION_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R228',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'subscriptions/listen is first answered with what is honoured, and everything on it names the subscription.',
    how: 'Listens for changes of the lists, and looks at the first message.',
    fix: 'Send notifications/subscriptions/acknowledged first, with the id of the request in _meta.',
    async check(subject) {
      const listened = await listen(subject)
      if (listened === undefined) return absent('the server announces no changes')
      const { id, first } = listened
      const [message] = first?.messages ?? []
      if (message === undefined) return failed('subscriptions/listen is not acknowledged')
      if (message['method'] !== ACKNOWLEDGED)
        return failed(`the first message is ${JSON.stringify(message).slice(0, 150)}`)
      return unless(
        member(message, 'params', '_meta', SUBSCRIPTION_ID) === id
          ? undefined
          : `the subscription id is ${JSON.stringify(member(message, 'params', '_meta', SUBSCRIPTION_ID))} instead of ${JSON.stringify(id)}`,
      )
    },
  },
  {
    id: 'R229',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'Only what was asked for is acknowledged.',
    how: 'Listens for changes of the tools only.',
    fix: 'Acknowledge and send only the kinds in the request.',
    async check(subject) {
      const listened = await listen(subject)
      const acknowledged = member(listened?.first?.messages[0], 'params', 'notifications')
      if (listened === undefined || acknowledged === undefined)
        return absent('the server announces no changes')
      const more = Object.entries(acknowledged as object).filter(
        ([key, value]) => key !== listened.kind && value !== false,
      )
      return more.length === 0
        ? passed
        : failed(`the server also acknowledges ${more.map(([key]) => key).join(', ')}`)
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

interface Listened {
  readonly session: Session
  readonly http: HttpReply | undefined
  readonly id: unknown
  readonly kind: string
  readonly first: Received | undefined
}

/** Listens for changes of one list; undefined if the server announces none. */
async function listen(subject: ServerSubject): Promise<Listened | undefined> {
  const capabilities = await subject.capabilities()
  const name = ['tools', 'prompts', 'resources'].find(
    (one) => member(capabilities, one, 'listChanged') === true,
  )
  if (name === undefined) return undefined
  const kind = `${name}ListChanged`
  const session = await subject.session()
  const message = session.requestOf('subscriptions/listen', { notifications: { [kind]: true } })
  const from = subject.trace.mark
  const http = await session.wire.send(JSON.stringify(message), { headers: session.headersOf(message) })
  const first = await session.wire.wait(() => true, { from, ms: Math.min(subject.ms, 2_000) })
  return { session, http, id: message['id'], kind, first }
}
