import type { Heard, Round, Seen, Visit } from '../client/visit.ts'
import { grouped } from '../grouped.ts'
import { isObject, member, type Message } from '../message.ts'
import { CLIENT_CAPABILITIES } from '../session.ts'

/** A question of our server, and what the client answered. */
export interface Question {
  readonly method: string
  readonly params?: unknown
  /** Its place in the trace. */
  readonly at: number
  readonly result?: Message | undefined
  /** The code of the error; at 2026-07-28 clients have no way to send one. */
  readonly code?: unknown
  /** What brought the answer; undefined if there is none. */
  readonly seen?: Seen | undefined
}

/** The questions of our server: requests, or parts of results at 2026-07-28. */
export function questionsOf(visit: Visit, method: string): readonly Question[] {
  const asked = visit.asked.map((one): Question => {
    const answer = one.answers[0]
    const result = member(answer?.message, 'result')
    return {
      ...one,
      ...(answer !== undefined && { seen: answer.seen, code: member(answer.message, 'error', 'code') }),
      ...(isObject(result) && { result }),
    }
  })
  const retries = visit.rounds.length === 0 ? [] : visit.requests().filter(({ message }) => isRetry(message))
  const byTarget = grouped(retries, ({ message }) => targetOf(message))
  const inResults = visit.rounds.flatMap((round) => {
    const retry = retryOf(byTarget.get(targetOf(round.request)) ?? [], round)
    return Object.entries(round.questions).map(([key, one]): Question => {
      const result = member(retry?.message, 'params', 'inputResponses', key)
      return {
        method: String(one['method']),
        params: one['params'],
        at: round.at,
        ...(isObject(result) && { result, seen: retry?.seen }),
      }
    })
  })
  return [...asked, ...inResults].filter((one) => one.method === method)
}

/** Of the requests with answers that have the same target, the one that repeats another. */
function retryOf(retries: readonly Heard[], { request, at }: Round): Heard | undefined {
  return retries.find(({ message, seen }) => seen.at > at && message['method'] === String(request['method']))
}

export function isRetry(message: Message): boolean {
  return ['inputResponses', 'requestState'].some((key) => member(message, 'params', key) !== undefined)
}

/** What a request is about: the name of a tool or prompt, or the URI of a resource. */
export function targetOf({ params }: Message): unknown {
  return member(params, 'name') ?? member(params, 'uri')
}

/** The capabilities that the client declared: in a call at 2026-07-28, otherwise in `initialize`. */
export function declaredIn(visit: Visit): Message {
  const found = visit.isModern
    ? member(visit.ownRequests('tools/call')[0]?.message, 'params', '_meta', CLIENT_CAPABILITIES)
    : member(visit.greeting?.message, 'params', 'capabilities')
  return isObject(found) ? found : {}
}

/** The kinds of elicitation that a client declared: an empty capability means forms. */
export function modesIn(capabilities: Message): readonly string[] {
  const { elicitation } = capabilities
  if (!isObject(elicitation)) return []
  const modes = ['form', 'url'].filter((mode) => isObject(elicitation[mode]))
  return modes.length === 0 ? ['form'] : modes
}
