import { pause } from '../base/backoff.ts'
import type { McpError } from '../errors/error.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import type { Conversation } from './conversation.ts'
import type { ReconnectingConnection } from './reconnecting-connection.ts'
import { LOST } from './task-report.ts'

/** The number of streams for tasks at once: over HTTP, each takes a connection. Other tasks are only polled. */
const MAX_STREAMS = 2
const AGAIN_MS = 1000
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

/** How many streams a connection has; `Infinity` if its server does not report on tasks. */
const streams = new WeakMap<ReconnectingConnection, number>()

/**
 * Asks for notifications about a task until the signal aborts. `onChange` is called when the server begins and stops to send them.
 * Servers need not do that, so tasks are polled as well.
 */
export async function listenForTask(
  { connection, events }: Conversation,
  taskId: string,
  signal: AbortSignal,
  onChange: (listens: boolean) => void,
): Promise<void> {
  const count = streams.get(connection) ?? 0
  if (count >= MAX_STREAMS) return
  streams.set(connection, count + 1)
  const stop = new AbortController()
  const end = (): void => stop.abort()
  signal.addEventListener('abort', end)
  let listening: number | undefined
  let listens = false
  const change = (now: boolean): void => {
    if (listens !== now) onChange((listens = now))
  }
  const off = events.on('notification', ({ method, params }) => {
    if (method !== ACKNOWLEDGED || (subscriptionOf(params) ?? listening) !== listening) return
    if (accepts(params, taskId)) change(true)
    else end()
  })
  let kind = 'stream_lost'
  let isLoggedOut = false
  while (!stop.signal.aborted && !isLoggedOut && LOST.has(kind)) {
    const stream = connection.logins?.stream(stop.signal)
    const onId = (id: number): void => {
      listening = id
      stream?.begin()
    }
    const options = { isOwn: true, signal: stream?.signal ?? stop.signal, onId }
    kind = await connection
      .request('subscriptions/listen', { notifications: { taskIds: [taskId] } }, options)
      .then(() => 'stream_lost')
      .catch((error: unknown) => (error as McpError).kind)
      .finally(() => stream?.end())
    change(false)
    // After a logout, tasks are polled, and nobody is asked to log in for a stream.
    isLoggedOut = stream?.isFormer === true && connection.state !== 'ready'
    if (LOST.has(kind) && !isLoggedOut) await pause(AGAIN_MS, stop.signal)
  }
  off()
  signal.removeEventListener('abort', end)
  streams.set(connection, signal.aborted || isLoggedOut ? (streams.get(connection) ?? 1) - 1 : Infinity)
}

function subscriptionOf(params: JsonObject): unknown {
  return (params['_meta'] as JsonObject | null | undefined)?.[META.subscriptionId]
}

function accepts({ notifications }: JsonObject, taskId: string): boolean {
  const ids = (notifications as JsonObject | null | undefined)?.['taskIds']
  return Array.isArray(ids) && ids.includes(taskId)
}
