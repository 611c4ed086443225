import { createEventReader } from '../../src/wire/sse-reader.ts'
import { listenerOf } from './line-http.ts'
import type { AnyApp, Line, LineOptions } from './line.ts'

const MAX_EVENT = 64 * 1024 * 1024

/** A client over the transport of 2024-11-05: one stream for everything that comes, and a POST for each text. */
export async function openSse(app: AnyApp, { receive }: LineOptions): Promise<Line> {
  const url = new URL('/sse', (await listenerOf(app)).url)
  const all = new AbortController()
  const response = await fetch(url, { headers: { accept: 'text/event-stream' }, signal: all.signal })
  if (response.status !== 200) throw new Error(`GET was answered with ${response.status}`)
  let address: URL | undefined
  let greeted: () => void = () => undefined
  const greeting = new Promise<void>((resolve) => (greeted = resolve))
  const reader = createEventReader({
    maxBytes: MAX_EVENT,
    onEvent({ event, data }) {
      if (address !== undefined && event === 'message') return receive(data, undefined)
      if (address !== undefined || event !== 'endpoint') throw new Error(`unexpected event ${String(event)}`)
      address = new URL(data, url)
      greeted()
    },
    onOversize: () => all.abort(),
  })
  const read = async (): Promise<void> => {
    for await (const chunk of response.body ?? []) reader.push(chunk as Uint8Array)
  }
  const reading = read().catch(() => undefined)
  await greeting
  return {
    async send(text) {
      const headers = { 'content-type': 'application/json' }
      const taken = await fetch(address as URL, { method: 'POST', headers, body: text })
      const body = await taken.text()
      if (taken.status !== 202) receive(body, undefined)
    },
    watch: async () => undefined,
    abandon: () => false,
    async close() {
      all.abort()
      await reading
    },
  }
}
