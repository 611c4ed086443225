import type { LocalServer } from '../../src/client/target.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { schemaErrors, type Entry } from '../harness/transcript.ts'

/** A server in this process, and every text that was sent to it and by it, connection by connection. */
export interface Tap extends LocalServer {
  readonly connections: readonly (readonly Entry[])[]
  /** The messages that clients sent, in order. */
  sent(): readonly JsonObject[]
  /** The messages that the server sent, in order. */
  received(): readonly JsonObject[]
}

export function tap(server: LocalServer): Tap {
  const connections: Entry[][] = []
  const from = (side: Entry['from']): readonly JsonObject[] =>
    connections
      .flat()
      .filter((entry) => entry.from === side)
      .map(({ text }) => JSON.parse(text) as JsonObject)
  return {
    connections,
    sent: () => from('client'),
    received: () => from('server'),
    connect({ receive, ...options }) {
      const entries: Entry[] = []
      connections.push(entries)
      const end = server.connect({
        ...options,
        receive(text) {
          entries.push({ from: 'server', text, raw: false })
          receive(text)
        },
      })
      return {
        send(text) {
          entries.push({ from: 'client', text, raw: false })
          end.send(text)
        },
        close: () => end.close(),
      }
    },
  }
}

/** Fails when a message broke the official schema of its revision. */
export function judge({ connections }: Tap, revision: Revision): void {
  const found = connections.flatMap((entries) => schemaErrors(entries, revision))
  if (found.length > 0) throw new Error(`messages break the schema of ${revision}:\n${found.join('\n')}`)
}
