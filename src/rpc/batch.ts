import { inTurns } from '../base/in-turns.ts'
import { shareOf } from '../base/share.ts'
import { mcpError, type McpError } from '../errors/error.ts'
import { BATCH_ANSWERS } from '../errors/limits.ts'
import type { RequestId } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import { idOf, type CallTable } from './call-table.ts'
import type { Load } from './load.ts'
import { weightOf } from './weight.ts'

/** A batch as its transport sees it. */
export interface Batch<Out> {
  readonly members: readonly unknown[]
  /** The size of all its messages in characters. */
  readonly size: number
  /** Undefined when the caller is unknown. */
  readonly caller: unknown
  /** The network of an anonymous caller, if known. */
  readonly network: string | undefined
  /** The unanswered requests of its client, if they are known. */
  readonly calls: CallTable | undefined
  /** Answers one message; never throws. */
  take(member: unknown): Out | Promise<Out>
  /** The length of an answer in characters. */
  lengthOf(out: Out): number
  /** Answers a request with an error. */
  refuse(id: RequestId, error: McpError): Out
}

/** Answers a message of a batch; `cancelled` is the reason if the client cancelled it before it began. */
type Take<Out> = (member: unknown, cancelled: McpError | undefined) => Out | Promise<Out>

/**
 * Answers the messages of a batch with `take` until their answers, which are kept until all can be sent, exceed the share of one
 * caller; then the remaining requests are rejected.
 */
export function withinRoom<Out>(
  { lengthOf, refuse }: Batch<Out>,
  { unsentBytes }: Pick<Limits, 'unsentBytes'>,
  take: Take<Out>,
): Take<Out> {
  const limit = Math.floor(shareOf(unsentBytes))
  let room = limit
  return (member, cancelled) => {
    const id = idOf(member)
    if (id === undefined) return take(member, cancelled)
    const tooMuch = (): Out => refuse(id, mcpError(BATCH_ANSWERS, { limit }))
    const bounded = (out: Out): Out => {
      room -= lengthOf(out)
      return room < 0 ? tooMuch() : out
    }
    if (room < 0) return tooMuch()
    const out = take(member, cancelled)
    return out instanceof Promise ? out.then(bounded) : bounded(out)
  }
}

/**
 * Answers the messages of a batch in order. A batch counts as one message until all are answered, and as one running request
 * while others have a turn between its messages.
 */
export function answerBatch<Out>(
  { members, size, caller, network, calls }: Batch<Out>,
  load: Load,
  take: Take<Out>,
): Out[] | Promise<Out[]> {
  const paused = { isCounted: false }
  const outs = inTurns(members, (member) => take(member, calls?.claim(member, members)), {
    pause: (rest) => {
      calls?.expect(rest, members)
      load.enter(paused, caller, 0, network)
    },
    resume: () => load.leave(paused, caller, 0),
  })
  if (!(outs instanceof Promise) && !outs.some((out) => out instanceof Promise)) return outs as Out[]
  const bytes = weightOf(members, size)
  load.hold(bytes, { caller, network })
  return Promise.resolve(outs)
    .then((all) => Promise.all(all))
    .finally(() => load.hold(-bytes, { caller, network }))
}
