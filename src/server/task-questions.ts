import { pause } from '../base/backoff.ts'
import { toMs } from '../base/duration.ts'
import { mcpError } from '../errors/error.ts'
import { ASK_INVALID, ASK_REFUSED } from '../errors/server.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { Call, type Channel, type Peer } from '../rpc/call.ts'
import type { TaskAsk } from './ask.ts'
import { LEAST_POLL_MS } from './task-option.ts'

type Ask = NonNullable<Channel['ask']>

/** The requests that a client may run as tasks, by method: where it declares them. */
const DECLARED: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['elicitation/create', ['elicitation', 'create']],
  ['sampling/createMessage', ['sampling', 'createMessage']],
])

const MOST_POLL_MS = 60_000
const USUAL_POLL_MS = 1000
const MOST_ID_CHARS = 1024

/**
 * Asks a question as a task of the client, if the client can do that, and waits for its end, for `questionMs` unless the task has a
 * `ttl`; otherwise asks an ordinary question.
 */
export async function askAsTask(
  ask: Ask,
  { method, params }: { readonly method: string; readonly params: JsonObject },
  { ttl }: TaskAsk,
  call: Call,
  questionMs: number,
): Promise<JsonObject> {
  if (!mayBeTask(call.peer, method)) return ask(method, params, call)
  const task: { ttl?: number } = ttl === undefined ? {} : { ttl: Math.round(toMs(ttl, 'task ttl')) }
  const created = await ask(method, { ...params, task }, call)
  // Clients may answer at once.
  if (!isObject(created['task'])) return created
  const taskId = readId(method, created['task'])
  let state = created['task']
  const limitMs = task.ttl ?? questionMs
  const end = performance.now() + limitMs
  try {
    while (state['status'] === 'working') {
      const leftMs = end - performance.now()
      if (leftMs <= 0) throw mcpError(ASK_REFUSED, { method, reason: `no answer within ${limitMs} ms` })
      await pause(Math.min(pollOf(state), leftMs), call.askingSignal)
      call.askingSignal.throwIfAborted()
      state = await ask('tasks/get', { taskId }, call)
    }
    return await ask('tasks/result', { taskId }, call)
  } catch (error) {
    if (call.askingSignal.aborted || performance.now() >= end) giveUp(ask, taskId, call)
    throw error
  }
}

/** Tells the client that nobody waits for its task any more, if it can still be reached. */
function giveUp(ask: Ask, taskId: string, { id, method, peer, channel, source }: Call): void {
  // The signal of the call itself would stop the request.
  const own = new Call(id, method, {}, { peer, channel, source })
  ask('tasks/cancel', { taskId }, own).catch(() => undefined)
}

/** Whether a client declared that it runs requests of a method as tasks. Only one revision has that. */
function mayBeTask({ capabilities, dialect }: Peer, method: string): boolean {
  const [feature, request] = DECLARED.get(method) ?? []
  if (feature === undefined || request === undefined || dialect.revision !== '2025-11-25') return false
  const steps = ['tasks', 'requests', feature, request]
  let found: unknown = capabilities
  for (const step of steps) found = isObject(found) && Object.hasOwn(found, step) ? found[step] : undefined
  return isObject(found)
}

function readId(method: string, { taskId }: JsonObject): string {
  if (typeof taskId === 'string' && taskId.length <= MOST_ID_CHARS) return taskId
  throw mcpError(ASK_INVALID, { method, issue: 'its task has no valid id' })
}

function pollOf({ pollInterval }: JsonObject): number {
  const wanted = typeof pollInterval === 'number' && pollInterval >= 0 ? pollInterval : USUAL_POLL_MS
  return Math.min(MOST_POLL_MS, Math.max(LEAST_POLL_MS, wanted))
}
