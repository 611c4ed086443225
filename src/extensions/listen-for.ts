import { McpError } from '../protocol/errors.ts'
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

async function stay(client: Requester, id: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await client.request('subscriptions/listen', { notifications: { [id]: true } }, { signal })
      return
    } catch (error) {
      if (signal.aborted || client.state === 'closed') return
      if (!(error instanceof McpError) || !LOST.has(error.kind)) throw error
    }
  }
}

const LOST: ReadonlySet<string> = new Set(['connection_closed', 'stream_lost', 'session_lost'])
