import { mcpError } from '../../protocol/errors.ts'
import type { Limits } from '../../protocol/limits.ts'
import type { Origin } from '../../rpc/call.ts'
import type { OpenLine } from '../../rpc/line.ts'
import { Pipe } from '../../rpc/pipe.ts'
import type { Service } from '../../rpc/service.ts'
import { receiveText } from '../receive.ts'
import { serveMemory } from './serve.ts'

export interface ConnectMemoryOptions {
  readonly limits: Limits
  readonly origin?: Origin
}

/** A line to a server in the same process. Everything is carried as text, as on any other transport. */
export function connectMemory(service: Service, { limits, origin = {} }: ConnectMemoryOptions): OpenLine {
  return async (events) => {
    const pipe = new Pipe({ events, write: (text) => end.send(text) })
    const end = serveMemory(service, {
      limits,
      origin,
      receive: (text) => void receiveText(pipe, text, limits.depth),
    })
    return {
      cancels: 'message',
      request: (outgoing) => pipe.request(outgoing),
      async send(text) {
        if (pipe.failure !== undefined) throw pipe.failure
        end.send(text)
      },
      agree: () => undefined,
      async close() {
        pipe.fail(mcpError('closed', {}))
        end.close()
      },
    }
  }
}
