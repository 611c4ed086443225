import { mcpError } from '../../errors/error.ts'
import { CONNECTION_CLOSED } from '../../errors/rpc.ts'
import type { Limits } from '../../protocol/limits.ts'
import { sizeProblem } from '../../wire/message-size.ts'
import type { RequestSource } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import { askedId } from '../io/asked-id.ts'
import { Connection } from '../io/connection.ts'

export interface MemoryOptions {
  readonly limits: Limits
  readonly source?: RequestSource
  /** Receives each message from the server. */
  receive(text: string): void
}

/** The client's end of a connection inside one process. */
export interface MemoryEnd {
  send(text: string): void
  close(): void
}

const USED_LATE = 'a client in this process uses the server after app.close(); close its clients before it'

/** Serves one client in the same process. Messages are text, as on any other transport. */
export function serveMemory(service: Service, { limits, source = {}, receive }: MemoryOptions): MemoryEnd {
  let open = true
  const connection = new Connection({
    service,
    limits,
    source,
    send: (text) => (open ? receive(text) : undefined),
  })
  return {
    send(text) {
      if (!open) throw mcpError(CONNECTION_CLOSED, { method: 'the message' })
      if (service.isClosed) service.warnOnce('closed', '', USED_LATE)
      const problem = sizeProblem(text.length, limits.memoryBytes)
      if (problem !== undefined) return connection.reject(problem, askedId(text))
      connection.receive(text)
    },
    close() {
      open = false
      connection.close()
    },
  }
}
