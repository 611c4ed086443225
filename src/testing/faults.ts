import type { Message } from '../protocol/jsonrpc.ts'
import { orAborted } from '../base/backoff.ts'
import { mcpError } from '../errors/error.ts'
import { SESSION_LOST } from '../errors/client.ts'
import { CONNECTION_CLOSED } from '../errors/rpc.ts'
import type { ClientTransport, TransportEvents, OpenTransport } from '../rpc/client-transport.ts'

/** Faults to inject. */
export interface Faults {
  /** Breaks the connection now or, with a number, after that many more messages from the server. */
  drop(afterMessages?: number): void
  /** Ends the session on the server before the next request. */
  loseSession(): void
  /** Delays every message from the server. */
  slow(ms: number): void
  /** The number of connections opened so far. */
  readonly opened: number
}

/** A connection with injected faults. */
export function withFaults(open: OpenTransport): { readonly open: OpenTransport; readonly faults: Faults } {
  let delayMs = 0
  let opened = 0
  let dropAfter: number | undefined
  let forgotten = false
  let breakNow: () => void = () => undefined

  return {
    faults: {
      drop(afterMessages = 0) {
        if (afterMessages === 0) breakNow()
        else dropAfter = afterMessages
      },
      loseSession: () => void (forgotten = true),
      slow: (ms) => void (delayMs = ms),
      get opened() {
        return opened
      },
    },
    open: async (events) => {
      opened++
      const broken = new AbortController()
      const waiting: Waiting = new Set()
      const transport = await open(faulty(events, broken))
      breakNow = () => {
        if (broken.signal.aborted) return
        broken.abort(mcpError(CONNECTION_CLOSED, { method: 'the request' }))
        for (const fail of waiting) fail(broken.signal.reason as Error)
        void transport.close()
        events.onDown(broken.signal.reason as Error)
      }
      return wrapped(transport, broken.signal, waiting)
    },
  }

  function faulty(events: TransportEvents, broken: AbortController): TransportEvents {
    return {
      ...events,
      onMessage: (message) =>
        void later(broken.signal).then(
          () => events.onMessage(message),
          () => undefined,
        ),
      onDown: (reason) => events.onDown(reason),
    }
  }

  function wrapped(transport: ClientTransport, broken: AbortSignal, waiting: Waiting): ClientTransport {
    return {
      cancels: transport.cancels,
      agree: (revision) => transport.agree(revision),
      send: (text, headers) => transport.send(text, headers),
      close: () => transport.close(),
      async request(outgoing) {
        if (forgotten) {
          forgotten = false
          throw mcpError(SESSION_LOST, {})
        }
        const onMessage = (message: Message): void =>
          void later(broken).then(
            () => outgoing.onMessage(message),
            () => undefined,
          )
        return orBroken(waiting, outgoing.cancel.signal, async () => {
          const answer = await transport.request({ ...outgoing, onMessage })
          await later(broken)
          return answer
        })
      },
    }
  }

  /** Delays one message, or breaks the connection with it. */
  async function later(broken: AbortSignal): Promise<void> {
    if (delayMs > 0) await new Promise<void>((resolve) => setTimeout(resolve, delayMs))
    if (dropAfter !== undefined && --dropAfter <= 0) {
      dropAfter = undefined
      breakNow()
    }
    broken.throwIfAborted()
  }
}

/** Rejects the waiting requests when the connection breaks. */
type Waiting = Set<(reason: Error) => void>

/** Settles like a request, unless the connection breaks or the signal aborts first. */
function orBroken<Value>(
  waiting: Waiting,
  signal: AbortSignal,
  request: () => Promise<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    waiting.add(reject)
    orAborted(request(), signal)
      .then(resolve, reject)
      .finally(() => waiting.delete(reject))
  })
}
