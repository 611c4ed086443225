import { McpError, mcpError } from '../../../errors/error.ts'
import { LATER } from '../../../errors/retry-after.ts'
import { OVERLOADED } from '../../../errors/rpc.ts'
import { TOO_MUCH_HELD } from '../../../errors/server.ts'
import { sizeOf } from '../../../nodes/forwarded.ts'
import type { Node } from '../../../nodes/node.ts'
import type { Message } from '../../../protocol/jsonrpc.ts'
import type { StoredBytes } from '../../io/stored-bytes.ts'

/** Answers longer than this travel through the cache, so that the bus need not keep them. */
const LONG_ANSWER = 65_536
/** How long they stay there: a node that cannot reach the store for longer is taken for dead. */
export const ANSWER_MS = 30_000

export interface AnswerParts {
  readonly node: Node
  /** Counts long answers on their way to other nodes. */
  readonly forwarded: StoredBytes
  /** The same for nodes that may not exist, or do not say what they wait for. */
  readonly strays: StoredBytes
}

interface AnswerSession {
  readonly id: string
  /** The caller or the network whose answers it is counted with. */
  readonly countedFor: string
}

/** Sends an answer to the node that asked. If there is no room for it, its question fails. */
export async function sendAnswer(parts: AnswerParts, session: AnswerSession, answer: Message): Promise<void> {
  const { node } = parts
  try {
    const text = JSON.stringify(answer)
    if (!node.forwarded.take(session.countedFor, sizeOf(text))) throw mcpError(OVERLOADED, {}, LATER)
    if (text.length > LONG_ANSWER) return await sendLong(parts, session, answer.id as number, text)
    await node.publish({ kind: 'answered', session: session.id, answer })
  } catch (error) {
    if (isRefusal(error) && node.forwarded.take(session.countedFor, 1)) {
      const refused = { ...(answer.id !== undefined && { id: answer.id }), error: NO_ROOM }
      node.publish({ kind: 'answered', session: session.id, answer: refused }).catch(() => undefined)
    }
    throw error
  }
}

/** The store keeps a long answer only if a node waits for it. It counts from the offer until that node has it. */
async function sendLong(
  { node, forwarded, strays }: AnswerParts,
  { id: session, countedFor: caller }: AnswerSession,
  id: number,
  text: string,
): Promise<void> {
  const key = `answer:${crypto.randomUUID()}`
  const standing = await node.offers.standing(id)
  const pool = standing === 'replies' ? forwarded : strays
  const kept = { session: key, caller, idleMs: ANSWER_MS }
  pool.take(kept, text)
  let isStored = false
  try {
    const isWanted = await node.offers.offer(session, id)
    if (isWanted === false || (isWanted === undefined && standing === 'dead')) return
    // It runs an older program, or is too busy to reply.
    if (isWanted === undefined) node.offers.noteSilent(id)
    isStored = true
    pool.touch(kept)
    await node.stores.cache.set(key, text, ANSWER_MS)
    await node.publish({ kind: 'answered', session, key, id })
  } finally {
    if (!isStored) pool.forget(key)
  }
}

/** The store does not have a long answer any more. */
export function answerTaken({ forwarded, strays }: Omit<AnswerParts, 'node'>, key: string): void {
  forwarded.forget(key)
  strays.forget(key)
}

const NO_ROOM = { code: -32603, message: 'there was no room for its answer on the way between two nodes' }

function isRefusal(error: unknown): boolean {
  return error instanceof McpError && (error.kind === OVERLOADED.kind || error.kind === TOO_MUCH_HELD.kind)
}
