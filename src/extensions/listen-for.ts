import { pause } from '../base/backoff.ts'
import { McpError } from '../errors/error.ts'
import { LATEST } from '../protocol/revisions.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { requireServed, type Requester } from './remote.ts'

/** Hears the notices of an extension, again after a lost connection; gives back what ends it. */
export async function listenFor(
  client: Requester,
  id: string,
  listener: (name: string, params: JsonObject) => void,
): Promise<() => void> {
  const prefix = `notifications/${id}/`
  await requireServed(client, id, prefix)
  const off = client.on('notification', ({ method, params }) => {
    if (method.startsWith(prefix)) listener(method.slice(prefix.length), params)
  })
  const { revision } = await client.server()
  if (revision !== LATEST) return off
  const stop = new AbortController()
  await listening(client, id, stop.signal)
  return () => {
    off()
    stop.abort()
  }
}

/** Resolves when the server has begun to tell. */
async function listening(client: Requester, id: string, signal: AbortSignal): Promise<void> {
  let off = (): void => undefined
  const acknowledged = new Promise<void>((resolve) => {
    off = client.on('notification', ({ method, params }) => {
      const told = params['notifications'] as JsonObject | undefined
      if (method === 'notifications/subscriptions/acknowledged' && told?.[id] === true) resolve()
    })
  })
  const ended = stay(client, id, signal)
  ended.catch(() => undefined)
  try {
    await Promise.race([acknowledged, ended])
  } finally {
    off()
  }
}

/** Listens again whenever the stream ends: a server that was closed may be there again. */
async function stay(client: Requester, id: string, signal: AbortSignal): Promise<void> {
  const notifications = { [id]: true }
  while (!signal.aborted) {
    try {
      await client.request('subscriptions/listen', { notifications }, { signal })
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof McpError) || FINAL.has(error.kind)) throw error
    }
    await pause(AGAIN_MS, signal)
  }
}

/** What a server does not say of a stream that it would open later. */
const FINAL: ReadonlySet<string> = new Set(['closed', 'unknown_method', 'bad_params', 'not_offered'])
const AGAIN_MS = 1000
