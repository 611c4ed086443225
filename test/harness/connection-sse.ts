import { createEventReader } from '../../src/wire/sse-reader.ts'
import { listenerOf } from './connection-http.ts'
import type { AnyApp, Connection, ConnectionOptions } from './connection.ts'

const MAX_EVENT = 64 * 1024 * 1024

/** A client over HTTP+SSE of 2024-11-05: one stream for everything from the server, and one POST per text. */
export async function openSse(app: AnyApp, { receive }: ConnectionOptions): Promise<Connection> {
  const url = new URL('/sse', (await listenerOf(app)).url)
  const all = new AbortController()
  const stream = await fetch(url, { headers: { accept: 'text/event-stream' }, signal: all.signal })
  if (stream.status !== 200) throw new Error(`GET was answered with ${stream.status}`)
  let address: URL | undefined
  let onAddress: () => void = () => undefined
  const addressed = new Promise<void>((resolve) => (onAddress = resolve))
  const reader = createEventReader({
    maxBytes: MAX_EVENT,
    onEvent({ event, data }) {
      if (address !== undefined && event === 'message') return receive(data, undefined)
      if (address !== undefined || event !== 'endpoint') throw new Error(`unexpected event ${String(event)}`)
      address = new URL(data, url)
      onAddress()
    },
    onOversize: () => all.abort(),
  })
  const read = async (): Promise<void> => {
    for await (const chunk of stream.body ?? []) reader.push(chunk as Uint8Array)
  }
  const reading = read().catch(() => undefined)
  await addressed
  return {
    async send(text) {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(address as URL, { method: 'POST', headers, body: text })
      const body = await response.text()
      if (response.status !== 202) receive(body, undefined)
    },
    watch: async () => undefined,
    abandon: () => false,
    async close() {
      all.abort()
      await reading
    },
  }
}
