import type { ClientSubject } from '../client-subject.ts'
import type { Scenario } from '../client/scenario.ts'
import type { Asked, Heard, Visit } from '../client/visit.ts'
import { grouped } from '../grouped.ts'
import { isNotification, member } from '../message.ts'
import {
  A_TO_D,
  absent,
  ALL,
  E_ONLY,
  passed,
  TRANSPORTS,
  unchecked,
  type Rule,
  type Verdict,
} from '../rule.ts'
import { broken, everyVisit, goesOnAfter, MOMENT, shown, straying } from './verdicts.ts'

/** A response may be on its way when a client cancels; after this time it is not. */
const LATE_MS = 1_000

/** Rules about progress, and about requests that are cancelled. */
export const CLIENT_PROGRESS_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R067',
    level: 'must',
    revisions: E_ONLY,
    transports: ['stdio'],
    rule: 'Over stdio a request is cancelled with notifications/cancelled and its id.',
    how: 'Leaves a call without a response, and looks how the client cancels it.',
    fix: 'Send notifications/cancelled with the id of the request in requestId.',
    check: (subject) => cancelling(subject),
  },
  {
    id: 'R190',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'Progress is reported only with the token of a request.',
    how: 'Asks questions with a progressToken, and looks at the progress that the client reports.',
    fix: 'Report progress with the progressToken of the request that it is about, or not at all.',
    isLast: true,
    check: (subject) =>
      everyReport(subject, (_visit, { token, asked }) =>
        asked === undefined ? `no request has the token ${shown(token)}` : undefined,
      ),
  },
  {
    id: 'R191',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'Progress increases with each report, and ends with the response.',
    how: 'Asks questions with a progressToken, and looks at the progress that the client reports.',
    fix: 'Report progress only if it has increased, and not after the response.',
    isLast: true,
    check: (subject) => everyReport(subject, wrongOrder),
  },
  {
    id: 'R192',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A progressToken is a text or an integer, and no two requests have the same at a time.',
    how: 'Looks at the tokens of all requests.',
    fix: 'Use a new token for each request, such as its id.',
    isLast: true,
    check: (subject) => everyVisit(subject, tokensIn),
  },
  {
    id: 'R193',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A client cancels only its own requests that have no response yet.',
    how: 'Leaves a call without a response, and looks at what the client cancels.',
    fix: 'Send notifications/cancelled only for requests that wait for a response.',
    isLast: true,
    check: (subject) => cancelling(subject),
  },
  {
    id: 'R194',
    level: 'should',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A client ignores the cancellation of a request that it does not know.',
    how: 'Sends notifications/cancelled with an unknown id, and looks whether the client goes on.',
    fix: 'Ignore notifications/cancelled for requests that are unknown or have ended.',
    check: (subject) =>
      goesOnAfter(subject, STRAY_CANCEL, 'the client does not go on after an unknown cancellation'),
  },
]

const tokenOf = (heard: Heard): unknown => member(heard.message, 'params', '_meta', 'progressToken')

function notifications(visit: Visit, method: string): readonly Heard[] {
  return visit.heard.filter(({ message }) => isNotification(message) && message['method'] === method)
}

/** A report of progress, and those before it for the same request. */
interface Report {
  readonly token: unknown
  /** The request that it is about. */
  readonly asked: Asked | undefined
  readonly at: number
  readonly value: number
  /** What was reported just before; undefined if it is the first report. */
  readonly before: number | undefined
  readonly isTwice: boolean
}

/** Looks at the progress that a client reports. */
function everyReport(
  subject: ClientSubject,
  wrong: (visit: Visit, report: Report) => string | undefined,
): Promise<Verdict> {
  return everyVisit(subject, (visit) => {
    const all = notifications(visit, 'notifications/progress')
    const askedWith = grouped(visit.asked, ({ params }) => member(params, '_meta', 'progressToken'))
    const known = new Map<unknown, { asked: Asked | undefined; values: Set<number>; last: number }>()
    for (const { message, seen } of all) {
      const token = member(message, 'params', 'progressToken')
      const value = Number(member(message, 'params', 'progress'))
      const asked = askedWith.get(token)?.findLast(({ at }) => at <= seen.at)
      const earlier = known.get(token)
      const own = earlier?.asked === asked ? earlier : undefined
      const isTwice = Number.isNaN(value) || own?.values.has(value) === true
      const found = wrong(visit, { token, asked, at: seen.at, value, before: own?.last, isTwice })
      if (found !== undefined) return broken(visit, seen, found)
      known.set(token, { asked, values: (own?.values ?? new Set()).add(value), last: value })
    }
    return all.length > 0 ? passed : absent('the client reports no progress')
  })
}

function wrongOrder({ transport }: Visit, { asked, at, value, before, isTwice }: Report): string | undefined {
  if (isTwice) return `the progress is ${shown(value)} twice`
  // HTTP requests may overtake each other.
  if (transport === 'http' || transport === 'sse') return undefined
  if (before !== undefined && !(value > before))
    return `the progress is ${shown(value)} after ${shown(before)}`
  const answer = asked?.answers[0]
  return answer !== undefined && answer.seen.at < at ? 'progress comes after the response' : undefined
}

function tokensIn(visit: Visit): Verdict {
  const requests = visit.ownRequests().filter((heard) => tokenOf(heard) !== undefined)
  // When the last response to a request with a token was sent.
  const ends = new Map<unknown, number>()
  for (const heard of requests) {
    const { message, seen } = heard
    const token = tokenOf(heard)
    if (typeof token !== 'string' && !Number.isInteger(token))
      return broken(visit, seen, `the progressToken is ${shown(token)}`)
    const end = ends.get(token) ?? -1
    if (end > seen.at)
      return broken(visit, seen, `two requests have the progressToken ${shown(token)} at a time`)
    // A request without a response may have been given up.
    ends.set(token, Math.max(end, visit.replyTo(message['id'], seen.at)?.at ?? -1))
  }
  return requests.length > 0 ? passed : unchecked('the client asks for no progress')
}

/** Looks at the requests that a client cancels. */
async function cancelling(subject: ClientSubject): Promise<Verdict> {
  const visit = await subject.visit(SILENT_CALL)
  const cancelled = notifications(visit, 'notifications/cancelled')
  const requests = new Map(
    visit
      .requests()
      .toReversed()
      .map((one) => [one.message['id'], one]),
  )
  for (const { message, seen } of cancelled) {
    const id = member(message, 'params', 'requestId')
    const request = requests.get(id)
    if (request === undefined || request.seen.at >= seen.at)
      return broken(visit, seen, `the client cancels ${shown(id)}, which is no request of its own`)
    const reply = visit.replyTo(id, request.seen.at)
    if (reply !== undefined && seen.ms - reply.ms > LATE_MS)
      return broken(visit, seen, `the client cancels ${shown(id)} after its response`)
  }
  return cancelled.length > 0
    ? passed
    : unchecked('the client does not cancel a call that has no response for two seconds')
}

const SILENT_CALL: Scenario = {
  name: 'silent-call',
  does: 'never answers the first call of a tool',
  revisions: ALL,
  transports: TRANSPORTS,
  begin: () => ({
    message({ method, seen, visit }) {
      if (method !== 'tools/call' || visit.notes.has(MOMENT)) return false
      visit.notes.set(MOMENT, seen.at)
      return true
    },
  }),
}

const STRAY_CANCEL: Scenario = straying(
  {
    name: 'stray-cancel',
    does: 'cancels a request that it never sent',
    revisions: ALL,
    transports: TRANSPORTS,
  },
  'notifications/cancelled',
  { requestId: 'validator-unknown', reason: 'this request does not exist' },
)
