import { inTurns } from '../base/in-turns.ts'
import { shareOf } from '../base/share.ts'
import { mcpError, type McpError } from '../errors/error.ts'
import { BATCH_ANSWERS } from '../errors/limits.ts'
import type { RequestId } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import type { CallTable } from './call-table.ts'
import type { Load } from './load.ts'
import { weightOf } from './weight.ts'

/** A batch as its transport sees it. */
export interface Batch<Out> {
  readonly members: readonly unknown[]
  /** The size of all its messages in characters. */
  readonly size: number
  /** Undefined when the caller is unknown. */
  readonly caller: unknown
  /** The unanswered requests of its client, if they are known. */
  readonly calls: CallTable | undefined
  /** Answers one message; never throws. */
  take(member: unknown): Out | Promise<Out>
  /** The length of an answer in characters. */
  lengthOf(out: Out): number
  /** Answers a request with an error. */
  refuse(id: RequestId, error: McpError): Out
}

/**
 * Answers the messages of a batch with `take` until their answers, which are kept until all can be sent, exceed the share of one
 * caller; then the remaining requests are rejected.
 */
export function withinRoom<Out>(
  { lengthOf, refuse }: Batch<Out>,
  { unsentBytes }: Pick<Limits, 'unsentBytes'>,
  take: (member: unknown, cancelled: McpError | undefined) => Out | Promise<Out>,
): typeof take {
  const limit = Math.floor(shareOf(unsentBytes))
  let room = limit
  const bounded = (out: Out, id: RequestId | undefined): Out => {
    if (id === undefined) return out
    room -= lengthOf(out)
    return room < 0 ? refuse(id, mcpError(BATCH_ANSWERS, { limit })) : out
  }
  return (member, cancelled) => {
    const id = requestIdOf(member)
    if (room < 0 && id !== undefined) return refuse(id, mcpError(BATCH_ANSWERS, { limit }))
    const out = take(member, cancelled)
    return out instanceof Promise ? out.then((late) => bounded(late, id)) : bounded(out, id)
  }
}

function requestIdOf(member: unknown): RequestId | undefined {
  const { id } = member instanceof Object && 'id' in member ? member : { id: undefined }
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

/**
 * Answers the messages of a batch in order; `take` is told if the client cancelled one before it began. A batch counts as one
 * message until all are answered, and as one running request while others have a turn between its messages.
 */
export function answerBatch<Out>(
  { members, size, caller, calls }: Batch<Out>,
  load: Load,
  take: (member: unknown, cancelled: McpError | undefined) => Out | Promise<Out>,
): Out[] | Promise<Out[]> {
  const paused = { isCounted: false }
  const outs = inTurns(members, (member) => take(member, calls?.claim(member, members)), {
    pause: (rest) => {
      calls?.expect(rest, members)
      load.enter(paused, caller, 0)
    },
    resume: () => load.leave(paused, caller, 0),
  })
  if (!(outs instanceof Promise) && !outs.some((out) => out instanceof Promise)) return outs as Out[]
  const bytes = weightOf(members, size)
  load.hold(bytes)
  return Promise.resolve(outs)
    .then((all) => Promise.all(all))
    .finally(() => load.hold(-bytes))
}
