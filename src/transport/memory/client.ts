import { mcpError } from '../../errors/error.ts'
import { CLOSED, CONNECTION_CLOSED } from '../../errors/rpc.ts'
import type { ContentLimits } from '../../protocol/client-limits.ts'
import type { Auth } from '../../rpc/call.ts'
import type { OpenTransport } from '../../rpc/client-transport.ts'
import { MessageStream } from '../../rpc/message-stream.ts'
import { receiveText } from '../io/receive.ts'

export interface ConnectMemoryOptions {
  readonly limits: ContentLimits
  readonly auth?: Auth | undefined
}

/** A server in this process, as far as the transport needs to know it. */
export interface MemoryServer {
  connect(options: { receive(text: string): void; closed(): void; readonly auth?: Auth }): {
    send(text: string): void
    close(): void
    readonly stopped?: Promise<void> | undefined
  }
}

/** Connects to a server in the same process. Messages are text, as on any other transport. */
export function connectMemory(server: MemoryServer, { limits, auth }: ConnectMemoryOptions): OpenTransport {
  return async (events) => {
    const messages = new MessageStream({ events, write: (text) => end.send(text) })
    const end = server.connect({
      receive: (text) => void receiveText(messages, text, limits),
      closed() {
        const reason = mcpError(CONNECTION_CLOSED, { method: 'the request' })
        messages.fail(reason)
        events.onDown(reason)
      },
      ...(auth === undefined ? {} : { auth }),
    })
    return {
      cancels: 'message',
      request: (outgoing) => messages.request(outgoing),
      async send(text) {
        messages.sentOther()
        end.send(text)
      },
      agree: () => undefined,
      async close() {
        messages.fail(mcpError(CLOSED, {}))
        end.close()
        await end.stopped
      },
    }
  }
}
