import { isRequest, isResponse, member, parsed, type Message, type Received } from '../message.ts'
import {
  A_TO_D,
  absent,
  ALL,
  E_ONLY,
  failed,
  passed,
  TRANSPORTS,
  unchecked,
  unless,
  type Rule,
} from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Wire } from '../wire.ts'
import { listeningCall } from './answer-streams.ts'
import { cancelCall } from './cancelled-call.ts'
import { allMessages, sentBy } from './json-rpc.ts'

const CANCELLED = 'notifications/cancelled'

/** Rules about progress and cancellation. */
export const PROGRESS_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R190',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Progress is reported only for tokens of requests.',
    how: 'Calls every tool with a token, and looks at the tokens that come back.',
    fix: 'Return the progressToken of the request exactly as it came.',
    calls: true,
    isLast: true,
    async check(subject) {
      await subject.survey()
      const given = new Set<unknown>(
        sentBy(subject).map((sent) => member(sent, 'params', '_meta', 'progressToken')),
      )
      // Most requests have none.
      given.delete(undefined)
      const found = progressOf(subject)
      if (found.length === 0) return unchecked('no tool sent progress')
      const foreign = found.find(({ token }) => !given.has(token))
      if (foreign === undefined) return passed
      return failed(
        foreign.token === undefined
          ? 'progress was reported without a token'
          : `progress was reported for the token ${JSON.stringify(foreign.token)}`,
      )
    },
  },
  {
    id: 'R191',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Progress increases with every report, and ends with the response.',
    how: 'Calls every tool with a token, once with the GET stream open, and looks at the numbers and at what comes after the responses.',
    fix: 'Report a larger number each time, and nothing after the response.',
    calls: true,
    isLast: true,
    async check(subject) {
      const { calls } = await subject.survey()
      if (subject.transport === 'http' && !subject.isModern) await listeningCall(subject)
      const found = progressOf(subject)
      if (found.length === 0) return unchecked('no tool sent progress')
      for (const { token, asked } of calls) {
        // After a question the call is made again, and its progress begins again.
        const from = asked.at(-1)?.received?.at ?? 0
        const own = found.filter((one) => one.token === token && one.at >= from)
        const fallen = own.find(
          ({ progress }, i) =>
            typeof progress !== 'number' || (i > 0 && progress <= Number(own[i - 1]?.progress)),
        )
        if (fallen !== undefined)
          return failed(`progress is ${own.map(({ progress }) => String(progress)).join(', ')}`)
      }
      return unless(lateReport(subject))
    },
  },
  {
    id: 'R192',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A progressToken is a text or an integer.',
    how: 'Looks at the tokens in the requests of the server.',
    fix: 'Use a new text or integer for each request, such as its id.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      const tokens = allMessages(subject)
        .filter(({ message }) => isRequest(message))
        .map(({ message }) => member(message, 'params', '_meta', 'progressToken'))
        .filter((token) => token !== undefined)
      if (tokens.length === 0) return absent('the server asks for no progress')
      const wrong = tokens.find((token) => typeof token !== 'string' && !Number.isInteger(token))
      return unless(
        wrong === undefined
          ? undefined
          : `a request has the progressToken ${JSON.stringify(wrong).slice(0, 100)}`,
      )
    },
  },
  {
    id: 'R193',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A server cancels only its own requests.',
    how: 'Compares what the server cancels with the requests that it sent before on the same connection.',
    fix: 'Send notifications/cancelled only with the id of a request of your own that has no response yet.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      const all = allMessages(subject)
      const cancelled = all.filter(({ message }) => message['method'] === CANCELLED)
      if (cancelled.length === 0) return absent('the server cancelled nothing')
      // When each id was first used, on each connection.
      const begun = new Map<Wire, Map<unknown, number>>(subject.wires.map((wire) => [wire, new Map()]))
      for (const { wire, message, received } of all) {
        const own = begun.get(wire)
        if (isRequest(message) && own?.has(message['id']) === false) own.set(message['id'], received.at)
      }
      const foreign = cancelled.find(({ wire, message, received }) => {
        const at = begun.get(wire)?.get(member(message, 'params', 'requestId'))
        return at === undefined || at > received.at
      })
      return unless(
        foreign &&
          `the server cancelled ${JSON.stringify(member(foreign.message, 'params', 'requestId'))}, which is no request of its own`,
      )
    },
  },
  {
    id: 'V194',
    level: 'should',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A call that was cancelled is not answered (the first half of R194).',
    how: 'Looks for a tool that takes a while even if nothing else is called, calls it, cancels the call, and waits.',
    fix: 'Stop the work, and send no response to a cancelled request.',
    calls: true,
    check: cancelCall,
  },
  {
    id: 'R194',
    level: 'should',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'The cancellation of a request that is unknown or done is ignored.',
    how: 'Cancels a request that never was, and then sends another request.',
    fix: 'Do nothing for requests that you do not know.',
    async check(subject) {
      const session = await subject.session()
      const from = subject.trace.mark
      await session.notify('notifications/cancelled', { requestId: 'never-was', reason: 'validation' })
      const { result, problem } = await session.request(
        subject.isModern ? 'server/discover' : 'ping',
        undefined,
        { id: 'after' },
      )
      if (result === undefined) return failed(problem ?? 'the server does not answer after a cancellation')
      const reply = session.wire
        .messagesFrom(from)
        .find((message) => isResponse(message) && message['id'] !== 'after')
      return unless(reply && `the cancellation is answered with ${JSON.stringify(reply).slice(0, 150)}`)
    },
  },
  {
    id: 'R195',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A server sends notifications/cancelled only to end a subscription.',
    how: 'Looks at every message of the server.',
    fix: 'Answer requests with an error instead.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      const listens = new Set<unknown>(
        subject.wires.flatMap(({ sent }) =>
          sent.flatMap(({ text }) =>
            text.includes('"subscriptions/listen"') ? [member(JSON.parse(text), 'id')] : [],
          ),
        ),
      )
      const wrong = allMessages(subject).find(
        ({ message }) =>
          message['method'] === 'notifications/cancelled' &&
          !listens.has(member(message, 'params', 'requestId')),
      )
      return unless(wrong && 'the server cancelled a request of its client')
    },
  },
]

interface Progress {
  readonly token: unknown
  readonly progress: unknown
  readonly at: number
}

/** All reports of progress, in the order in which they came. */
function progressOf(subject: ServerSubject): readonly Progress[] {
  return allMessages(subject).flatMap(({ message, received: { at } }) =>
    message['method'] === 'notifications/progress'
      ? [
          {
            token: member(message, 'params', 'progressToken'),
            progress: member(message, 'params', 'progress'),
            at,
          },
        ]
      : [],
  )
}

/** The response to a request: when it came, and on which stream. */
interface End {
  readonly at: number
  readonly stream: string
}

/** What is wrong with the time of a report of progress; undefined if none came after the response to its request. */
function lateReport(subject: ServerSubject): string | undefined {
  for (const wire of subject.wires) {
    const ends = endsOn(wire)
    const late = wire.received.find((received) =>
      received.messages.some((message) => {
        const end = ends.get(member(message, 'params', 'progressToken'))
        return (
          message['method'] === 'notifications/progress' && end !== undefined && isLate(wire, received, end)
        )
      }),
    )
    if (late !== undefined) return `progress was reported after the response: ${late.text.slice(0, 150)}`
  }
  return undefined
}

/** Whether something came after a response. Streams may overtake each other, so on another one only what follows a later exchange is late. */
function isLate(wire: Wire, { at, stream }: Received, end: End): boolean {
  if (at <= end.at || stream === end.stream) return at > end.at
  const next = wire.sent.find((one) => one.at > end.at)
  return wire.received.some(
    (one) => one.at < at && next !== undefined && one.at > next.at && one.messages.some(isResponse),
  )
}

/** When the last request with each token was answered on a connection; without those that are open, or go on as a task. */
function endsOn({ sent, received }: Wire): ReadonlyMap<unknown, End> {
  const answers = new Map<unknown, { readonly end: End; readonly message: Message }>()
  for (const { at, stream, messages } of received)
    for (const message of messages)
      if (isResponse(message)) answers.set(message['id'], { end: { at, stream }, message })
  const ends = new Map<unknown, End>()
  for (const { at, text } of sent) {
    if (!text.includes('"progressToken"')) continue
    const request = parsed(text)
    const token = member(request, 'params', '_meta', 'progressToken')
    const answer = answers.get(member(request, 'id'))
    if (token === undefined) continue
    ends.delete(token)
    if (answer !== undefined && answer.end.at > at && !isGoingOn(answer.message)) ends.set(token, answer.end)
  }
  return ends
}

/** Whether a call became a task, whose progress goes on. */
function isGoingOn(message: Message): boolean {
  return member(message, 'result', 'task') !== undefined || member(message, 'result', 'resultType') === 'task'
}
