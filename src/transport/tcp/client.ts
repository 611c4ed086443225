import type { Socket } from 'node:net'
import type { ReadLimits } from '../../protocol/client-limits.ts'
import { McpError, mcpError } from '../../errors/error.ts'
import { CLOSED } from '../../errors/rpc.ts'
import { CONNECT_FAILED } from '../../errors/transport.ts'
import type { ClientTransport, TransportEvents, OpenTransport } from '../../rpc/client-transport.ts'
import { MessageStream } from '../../rpc/message-stream.ts'
import type { Framing } from '../lines/framing.ts'
import type { FramingName } from '../lines/framing-name.ts'
import { createMessageReader } from '../lines/message-reader.ts'
import { createLineWriter } from '../lines/writer.ts'
import { framingOf, mismatchOf } from './framings.ts'
import { startHeartbeat } from './heartbeat.ts'
import { linger } from './linger.ts'
import { pooled } from './pool.ts'
import { explain, targetOf } from '../tls/problems.ts'
import { openSocket } from './open.ts'
import type { ClientTls } from '../tls/options.ts'

export interface ConnectTcpOptions {
  readonly tls: ClientTls
  readonly framing: FramingName | undefined
  /** How many connections to open at most. */
  readonly connections: number
  /** How long the server may be silent before a heartbeat is sent. */
  readonly heartbeatMs: number
  /** How long connecting may take, if that is less than 10 s. */
  readonly openMs: number
  readonly limits: ReadLimits
}

interface SocketOptions extends Omit<ConnectTcpOptions, 'framing'> {
  readonly framing: Framing
}

const CLOSE_MS = 500

/** Connects to a server on a socket: `tcp:`, `tls:` or `unix:`. */
export function connectTcp(url: URL, options: ConnectTcpOptions): OpenTransport {
  const open = openSocket(url, options.tls, options.openMs)
  const framing = framingOf(options.framing)
  return pooled(
    async (events) => openTransport(url, await open(events.signal), events, { ...options, framing }),
    options.connections,
  )
}

function openTransport(
  url: URL,
  socket: Socket,
  events: TransportEvents,
  options: SocketOptions,
): ClientTransport {
  const { limits, heartbeatMs, framing } = options
  const writer = createLineWriter(socket, limits.clientBytes, framing)
  const messages = new MessageStream({ events, write: writer.write })
  socket.once('data', (chunk: Uint8Array) => {
    const reason = mismatchOf(framing, chunk)
    if (reason !== undefined) down(mcpError(CONNECT_FAILED, { target: targetOf(url), reason }))
  })
  const reader = createMessageReader(socket, messages, {
    events,
    limits,
    framing,
    onBroken: down,
    where: 'to the socket',
  })
  const heartbeat = startHeartbeat(heartbeatMs, {
    ask: (text) => writer.write(text),
    onSilence: () => down(lost('the server stopped responding')),
  })
  let problem: NodeJS.ErrnoException | undefined
  socket.on('data', heartbeat.heard)
  socket.on('error', (error) => (problem ??= error))
  socket.once('end', () => reader.end())
  socket.once('close', onClose)
  if (socket.closed) queueMicrotask(onClose)

  return {
    cancels: 'message',
    request: (outgoing) => messages.request(outgoing),
    async send(text) {
      messages.sentOther()
      await writer.send(text)
    },
    agree: heartbeat.agree,
    async close() {
      heartbeat.stop()
      reader.stop()
      messages.fail(mcpError(CLOSED, {}))
      writer.flush()
      await linger(socket, CLOSE_MS)
    },
  }

  function onClose(): void {
    reader.end()
    down(lost(problem === undefined ? closed() : explain(problem, url)))
  }

  function closed(): string {
    const how = 'the server closed the connection'
    if (reader.anything() || url.protocol === 'unix:') return how
    if (url.protocol === 'tcp:') return `${how}; if it requires TLS, connect with tls://`
    const { cert } = options.tls
    return `${how}; it may ${cert === undefined ? 'require a client certificate: give tls: { cert, key }' : 'not accept our certificate'}`
  }

  function lost(how: string): McpError {
    if (!reader.anything()) return mcpError(CONNECT_FAILED, { target: targetOf(url), reason: how })
    return new McpError('stream_lost', `the connection to ${targetOf(url)} was lost: ${how}`)
  }

  function down(reason: McpError): void {
    heartbeat.stop()
    if (messages.failure !== undefined) return
    reader.stop()
    messages.fail(reason)
    events.onDown(reason)
    socket.destroy()
  }
}
