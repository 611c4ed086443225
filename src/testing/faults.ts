import { mcpError } from '../protocol/errors.ts'
import type { Line, LineEvents, OpenLine, Received } from '../rpc/line.ts'

/** Trouble to make on purpose. */
export interface Faults {
  /** Breaks the connection now; with a number, when so many more messages have arrived from the server. */
  drop(afterMessages?: number): void
  /** Makes the server forget the session before the next request. */
  loseSession(): void
  /** Delays every message from the server. */
  slow(ms: number): void
  /** How many lines were opened so far. */
  readonly opened: number
}

/** A line that fails when told to. */
export function withFaults(open: OpenLine): { readonly open: OpenLine; readonly faults: Faults } {
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
      const line = await open(faulty(events, broken))
      breakNow = () => {
        if (broken.signal.aborted) return
        broken.abort(mcpError('connection_closed', { method: 'the request' }))
        void line.close()
        events.onDown(broken.signal.reason as Error)
      }
      return { ...wrapped(line, broken.signal) }
    },
  }

  function faulty(events: LineEvents, broken: AbortController): LineEvents {
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

  function wrapped(line: Line, broken: AbortSignal): Line {
    return {
      cancels: line.cancels,
      agree: (revision) => line.agree(revision),
      send: (text, headers) => line.send(text, headers),
      close: () => line.close(),
      async request(outgoing) {
        if (forgotten) {
          forgotten = false
          throw mcpError('session_lost', {})
        }
        const onMessage = (message: Received): void =>
          void later(broken).then(
            () => outgoing.onMessage(message),
            () => undefined,
          )
        const answer = await orBroken(line.request({ ...outgoing, onMessage }), broken)
        await later(broken)
        return answer
      },
    }
  }

  /** Lets one message pass, in its time, unless the connection breaks with it. */
  async function later(broken: AbortSignal): Promise<void> {
    if (delayMs > 0) await new Promise<void>((resolve) => setTimeout(resolve, delayMs))
    if (dropAfter !== undefined && --dropAfter <= 0) {
      dropAfter = undefined
      breakNow()
    }
    broken.throwIfAborted()
  }
}

function orBroken<Value>(value: Promise<Value>, broken: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(broken.reason as Error)
    broken.addEventListener('abort', fail, { once: true })
    value.then(resolve, reject).finally(() => broken.removeEventListener('abort', fail))
  })
}
