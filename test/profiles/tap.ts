import type { LocalServer } from '../../src/client.ts'
import type { App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'

/** A server in this process, and every message of the connections to it. */
export function tapped(app: App): {
  readonly server: LocalServer
  said(from: 'client' | 'server'): readonly JsonObject[]
} {
  const log: { readonly from: 'client' | 'server'; readonly message: JsonObject }[] = []
  const note = (from: 'client' | 'server', text: string): void =>
    void log.push({ from, message: JSON.parse(text) as JsonObject })
  return {
    said: (from) => log.filter((entry) => entry.from === from).map(({ message }) => message),
    server: {
      connect({ receive, ...options }) {
        const end = app.connect({ ...options, receive: (text) => (note('server', text), receive(text)) })
        return { ...end, send: (text) => (note('client', text), end.send(text)) }
      },
    },
  }
}
