import { mcpError } from '../../errors/error.ts'
import { CONNECTION_CLOSED } from '../../errors/rpc.ts'
import type { Limits } from '../../protocol/limits.ts'
import { sizeProblem } from '../../wire/message-size.ts'
import type { RequestSource } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import { askedId } from '../io/asked-id.ts'
import { Connection } from '../io/connection.ts'
import type { ServerUse } from '../io/server-use.ts'

export interface MemoryOptions {
  readonly limits: Limits
  readonly source: RequestSource
  /** Receives each message from the server. */
  receive(text: string): void
  /** Called when the server ends the connection. */
  closed(): void
  /** Called once either side has ended the connection; with `use`, once the server has stopped, too. */
  onEnd(): void
  /** Starts the server with the first message, if it has something to start. */
  readonly use: ServerUse | undefined
}

/** The client's end of a connection inside one process. */
export interface MemoryEnd {
  /** Sends one JSON-RPC message to the server. Throws after `close`. */
  send(text: string): void
  /** Ends the connection and cancels its requests. */
  close(): void
  /** After `close`, resolves once the server has stopped, if this was its last use; absent if it has no hooks. */
  readonly stopped?: Promise<void> | undefined
}

/** A connection inside one process, as its server sees it. */
export interface MemoryConnection extends MemoryEnd {
  /** Finishes running requests, for at most `limitMs`, then ends the connection. Resolves as `stopped` does. */
  finish(limitMs: number): Promise<void>
}

const USED_LATE = 'a client in this process uses the server after app.close(); close its clients before it'

/** Serves one client in the same process. Messages are text, as on any other transport. */
export function serveMemory(
  service: Service,
  { limits, source, receive, closed, onEnd, use }: MemoryOptions,
): MemoryConnection {
  if (service.isClosed) service.warnOnce('closed', '', USED_LATE)
  let open = true
  let isStarted = use === undefined
  /** Messages that wait for the start. */
  let waiting = 0
  let stopped: Promise<void> | undefined
  const connection = new Connection({
    service,
    limits,
    source,
    send: (text) => (open ? receive(text) : undefined),
  })
  const end: MemoryConnection = {
    send(text) {
      if (!open) throw mcpError(CONNECTION_CLOSED, { method: 'the message' })
      if (!isStarted || waiting > 0) wait(text)
      else deliver(text)
    },
    close() {
      if (!open) return
      open = false
      connection.close()
      if (use === undefined) return onEnd()
      // Handlers may go on for a while after their request was cancelled.
      stopped = connection.drain(limits.drainMs).then(() => use.end())
      void stopped.then(onEnd)
    },
    async finish(limitMs) {
      await connection.drain(limitMs)
      if (open) {
        end.close()
        closed()
      }
      await stopped
    },
    get stopped() {
      return stopped
    },
  }
  return end

  function deliver(text: string): void {
    const problem = sizeProblem(text.length, limits.memoryBytes)
    if (problem === undefined) connection.receive(text)
    else connection.reject(problem, askedId(text))
  }

  /** Delivers a message once the server has started, after those that wait already. */
  function wait(text: string): void {
    waiting++
    const go = (act: () => void): void => {
      waiting--
      if (open) act()
    }
    void (use as ServerUse).start().then(
      () => {
        isStarted = true
        go(() => deliver(text))
      },
      (error: unknown) => go(() => connection.reject(error, askedId(text))),
    )
  }
}
