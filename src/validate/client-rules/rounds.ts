import { isDeepStrictEqual } from 'node:util'
import type { ClientSubject } from '../client-subject.ts'
import type { Heard, Round } from '../client/visit.ts'
import { isObject, member, type Message } from '../message.ts'
import { E_ONLY, passed, TRANSPORTS, unchecked, type Rule, type Verdict } from '../rule.ts'
import { isRetry, targetOf } from './questions-seen.ts'
import { broken, everyVisit, shown } from './verdicts.ts'

/** Rules about requests that are repeated with answers, at 2026-07-28. */
export const CLIENT_ROUND_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R223',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A request is repeated with a new id and the same parameters.',
    how: 'Answers calls with input_required, and compares the repeated call with the first one.',
    fix: 'Repeat the request with a new id, the same parameters, inputResponses and requestState.',
    isLast: true,
    check: (subject) =>
      everyRetry(subject, (rounds, { message }) => {
        if (rounds.some(({ request }) => request['id'] === message['id']))
          return `the repeated request has the same id ${shown(message['id'])}`
        const params = plainParams(message)
        const before = rounds.map(({ request }) => plainParams(request))
        return before.some((one) => isDeepStrictEqual(one, params))
          ? undefined
          : `the parameters were ${shown(before.at(-1))}, and are ${shown(params)} in the repeated request`
      }),
  },
  {
    id: 'R224',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'requestState is returned as it came, and left out if there was none.',
    how: 'Sends states with unusual characters, and questions without a state.',
    fix: 'Return requestState without any change, and only if the result had one.',
    isLast: true,
    check: (subject) =>
      everyRetry(subject, (rounds, { message }) => {
        const returned = member(message, 'params', 'requestState')
        return rounds.some(({ state }) => state === returned)
          ? undefined
          : `requestState was ${shown(rounds.at(-1)?.state)}, and is ${shown(returned)}`
      }),
  },
  {
    id: 'R225',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'Answers and states are sent only with the request that they belong to.',
    how: 'Looks for inputResponses and requestState in requests that got no question.',
    fix: 'Keep the answers and the state with the request, not with the connection.',
    isLast: true,
    check: (subject) =>
      everyVisit(subject, (visit) => {
        const retries = visit.ownRequests().filter(({ message }) => isRetry(message))
        const stray = retries.find((retry) => !visit.rounds.some(belonging(retry)))
        if (stray !== undefined)
          return broken(visit, stray.seen, 'the request has answers or a state, and got no question')
        return retries.length > 0 ? passed : unchecked('the client repeats no request')
      }),
  },
]

/** Says whether a repeated request can be about a round: same method and target, and answers to its questions only. */
function belonging({ message, seen }: Heard): (round: Round) => boolean {
  const answers = member(message, 'params', 'inputResponses')
  const keys = isObject(answers) ? Object.keys(answers) : []
  const target = targetOf(message)
  return ({ request, questions, at }) =>
    at < seen.at &&
    request['method'] === message['method'] &&
    targetOf(request) === target &&
    keys.every((key) => Object.hasOwn(questions, key))
}

/** The parameters without what a repeated request adds. */
function plainParams({ params }: Message): Message {
  const own = isObject(params) ? Object.entries(params) : []
  return Object.fromEntries(own.filter(([key]) => !['inputResponses', 'requestState', '_meta'].includes(key)))
}

/** Looks at all requests that were repeated with answers, and at the rounds that each can be about. */
function everyRetry(
  subject: ClientSubject,
  wrong: (rounds: readonly Round[], retry: Heard) => string | undefined,
): Promise<Verdict> {
  return everyVisit(subject, (visit) => {
    let count = 0
    for (const retry of visit.ownRequests().filter(({ message }) => isRetry(message))) {
      const rounds = visit.rounds.filter(belonging(retry))
      if (rounds.length === 0) continue
      count++
      const found = wrong(rounds, retry)
      if (found !== undefined) return broken(visit, retry.seen, found)
    }
    return count > 0 ? passed : unchecked('the client repeats no request')
  })
}
