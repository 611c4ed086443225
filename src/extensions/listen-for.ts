import { orAborted, pause } from '../base/backoff.ts'
import { connectionOf } from '../client/client.ts'
import { McpError } from '../errors/error.ts'
import { LATEST } from '../protocol/revisions.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { Deadline } from '../rpc/deadline.ts'
import { requireServed, type Requester } from './remote.ts'

/** Listens for the notices of an extension, also after reconnecting; resolves to a function that ends this. */
export async function listenFor(
  client: Requester,
  id: string,
  listener: (name: string, params: JsonObject) => void,
): Promise<() => void> {
  const prefix = `notifications/${id}/`
  await requireServed(client, id, prefix)
  const { revision } = await client.server()
  const off = client.on('notification', ({ method, params }) => {
    if (method.startsWith(prefix)) listener(method.slice(prefix.length), params)
  })
  if (revision !== LATEST) return off
  const stop = new AbortController()
  const end = (): void => {
    off()
    stop.abort()
  }
  try {
    await listening(client, id, stop.signal)
  } catch (error) {
    end()
    throw error
  }
  return end
}

/** Resolves when the server has started to send notices; rejects if it does not confirm that in time. */
async function listening(client: Requester, id: string, signal: AbortSignal): Promise<void> {
  let off = (): void => undefined
  const acknowledged = new Promise<void>((resolve) => {
    off = client.on('notification', ({ method, params }) => {
      const accepted = params['notifications'] as JsonObject | undefined
      if (method === 'notifications/subscriptions/acknowledged' && accepted?.[id] === true) resolve()
    })
  })
  const ended = stay(client, id, signal)
  ended.catch(() => undefined)
  const method = 'subscriptions/listen'
  const deadline = new Deadline({ method, idleMs: ACKNOWLEDGE_MS, totalMs: Infinity, signal })
  try {
    await orAborted(Promise.race([acknowledged, ended]), deadline.signal)
  } finally {
    deadline.end()
    off()
  }
}

/** Listens again whenever the stream ends, because a closed server may come back. The stream also ends with the login. */
async function stay(client: Requester, id: string, signal: AbortSignal): Promise<void> {
  const notifications = { [id]: true }
  const connection = connectionOf(client)
  while (!signal.aborted) {
    const stream = connection?.logins?.stream(signal)
    stream?.begin()
    try {
      await client.request('subscriptions/listen', { notifications }, { signal: stream?.signal ?? signal })
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof McpError) || FINAL.has(error.kind)) throw error
    } finally {
      stream?.end()
    }
    if (stream?.isFormer === true && connection?.state === 'connecting') await opened(client, signal)
    await pause(AGAIN_MS, signal)
  }
}

/** Waits until a request has logged in again: nobody should be asked to for a stream. */
async function opened(client: Requester, signal: AbortSignal): Promise<void> {
  const open = new AbortController()
  const off = client.on('state', (state) => {
    if (state !== 'connecting') open.abort()
  })
  await pause(Infinity, open.signal, signal)
  off()
}

/** Errors after which listening again is pointless. */
const FINAL: ReadonlySet<string> = new Set(['closed', 'unknown_method', 'bad_params', 'not_offered'])
const AGAIN_MS = 1000
const ACKNOWLEDGE_MS = 60_000
