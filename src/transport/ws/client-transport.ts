import type { Message } from '../../protocol/jsonrpc.ts'
import { McpError, mcpError } from '../../errors/error.ts'
import { ANSWER_TOO_LARGE, BAD_ANSWER } from '../../errors/client.ts'
import { CLOSED, OVERLOADED } from '../../errors/rpc.ts'
import { SOON } from '../../errors/retry-after.ts'
import type { ClientLimits, ReadLimits } from '../../protocol/client-limits.ts'
import type { ClientTransport, TransportEvents, OutgoingRequest } from '../../rpc/client-transport.ts'
import { MessageStream } from '../../rpc/message-stream.ts'
import type { Inbox } from '../io/inbox.ts'
import { answeredId, receiveText, tooManyInvalid } from '../io/receive.ts'
import { within } from '../io/timer.ts'
import type { ClientSession } from './client-session.ts'
import type { ClientSocket, DialOptions, SessionAck } from './client-socket.ts'
import { CLOSE } from './close-codes.ts'
import { ABNORMAL, codeOf, toReason } from './endings.ts'

export type WsTransportLimits = ReadLimits &
  Pick<ClientLimits, 'resumeMs' | 'reconnectFirstMs' | 'reconnectMaxMs' | 'reconnectFloorMs'>

/** How a connection is opened. */
export interface Opening extends Required<Pick<DialOptions, 'onPong'>> {
  readonly session: DialOptions['session']
  /** The timeout. */
  readonly timeoutMs: number
  /** Aborts when the connection is no longer wanted. */
  readonly signal: AbortSignal
  /** Receives the connection and the server's description of the session. */
  take(socket: ClientSocket, ack: SessionAck | undefined): void
}

export interface WsTransportOptions extends Pick<ClientTransport, 'stepUp' | 'confirm'> {
  readonly events: TransportEvents
  readonly limits: WsTransportLimits
  /** What sessions are made of; undefined if the runtime cannot resume them. */
  readonly Session?: typeof ClientSession | undefined
  /** What gives others their turns; undefined if the runtime does so itself. */
  readonly Inbox?: typeof Inbox | undefined
  /** Opens a connection. Rejects when it cannot be opened. */
  open(opening: Opening): Promise<void>
}

const OPEN = 1
const CLOSE_MS = 2000

/** A transport over WebSocket. Reading pauses while messages wait for their turn. When a connection is lost and the server keeps the session, it reconnects and resumes. */
export class WsClientTransport implements ClientTransport {
  readonly cancels = 'message'
  readonly stepUp: ClientTransport['stepUp']
  readonly confirm: ClientTransport['confirm']
  readonly #options: WsTransportOptions
  readonly #messages: MessageStream
  readonly #inbox: Inbox<unknown> | undefined
  readonly #closing = new AbortController()
  #socket: ClientSocket | undefined
  /** The session to resume; undefined if the server does not keep one. */
  #session: ClientSession | undefined
  #noted = false
  #onGone: (() => void) | undefined

  constructor(options: WsTransportOptions) {
    this.#options = options
    this.stepUp = options.stepUp
    this.confirm = options.confirm
    this.#messages = new MessageStream({
      events: options.events,
      write: (text) => void this.#write(text),
      onCancelled: (outgoing) => this.#session?.cancelled(outgoing),
    })
    const { Inbox } = options
    this.#inbox =
      Inbox &&
      new Inbox({
        take: (data) => this.#take(data),
        asked: () => this.#messages.asked,
        pause: () => this.#socket?.pause?.(),
        resume: () => this.#socket?.resume?.(),
      })
  }

  /** Opens the first connection. */
  async begin(): Promise<this> {
    const { limits, open, Session } = this.#options
    await open({
      session: limits.resumeMs > 0 ? { count: 0 } : undefined,
      timeoutMs: Infinity,
      signal: this.#closing.signal,
      onPong: (payload) => this.#session?.learn(payload),
      take: (socket, ack) => {
        if (ack !== undefined) this.#session = Session && new Session(ack.id, limits.clientBytes, this.#ask)
        this.#use(socket)
      },
    })
    return this
  }

  request(outgoing: OutgoingRequest): Promise<Message> {
    return this.#messages.request(outgoing)
  }

  async send(text: string): Promise<void> {
    this.#messages.sentOther()
    await this.#write(text, true)
  }

  agree(): void {}

  async close(): Promise<void> {
    this.#messages.fail(mcpError(CLOSED, {}))
    this.#end()
    const socket = this.#socket
    if (socket === undefined || socket.readyState > OPEN) return
    socket.close(CLOSE.done)
    await within(CLOSE_MS, (gone) => void (this.#onGone = gone))
    if (socket.terminate === undefined) socket.close()
    else socket.terminate()
  }

  #use(socket: ClientSocket): void {
    let problem: unknown
    this.#socket = socket
    socket.onmessage = ({ data }) => {
      this.#session?.receive()
      if (this.#inbox === undefined) this.#take(data)
      else this.#inbox.push(data)
    }
    socket.onControl = () => this.#inbox?.rest()
    socket.onerror = ({ error }) => (problem ??= codeOf(error))
    socket.onclose = ({ code, reason }) => {
      if (this.#socket === socket) this.#lost(code, reason, String(problem))
    }
  }

  /** Writes a message. Returns when that is done, if asked and possible. */
  #write(text: string, waits = false): Promise<void> | undefined {
    const { clientBytes } = this.#options.limits
    const socket = this.#socket
    if (socket === undefined ? this.#session?.isFull === true : socket.bufferedAmount > clientBytes)
      throw mcpError(OVERLOADED, {}, SOON)
    const written = waits ? socket?.deliver?.(text) : undefined
    if (written === undefined) socket?.send(text)
    this.#session?.sent(text)
    return written
  }

  readonly #ask = (payload: string): void => this.#socket?.ping?.(payload)

  #take(data: unknown): void {
    const { limits } = this.#options
    const messages = this.#messages
    if (messages.failure !== undefined) return
    if (typeof data !== 'string')
      return this.#fail(mcpError(BAD_ANSWER, { method: 'a message', issue: 'it is binary' }))
    // A runtime without its own size limit has read it anyway, but it is not parsed.
    if (data.length > limits.clientBytes)
      return void (
        messages.reject(answeredId(data) ?? messages.only, this.#tooLarge) || this.#fail(this.#tooLarge())
      )
    if (receiveText(messages, data, limits)) return
    const reason = tooManyInvalid(messages, limits)
    if (reason !== undefined) return this.#fail(reason)
    if (this.#noted) return
    this.#noted = true
    this.#options.events.onNote?.('stream', 'the server sends text that is not a message')
  }

  #lost(code: number, reason: string, problem: string): void {
    this.#socket = undefined
    this.#inbox?.flush()
    if (code === CLOSE.tooLarge) this.#messages.reject(this.#messages.only, weTooLarge)
    const why = problem === OVERSIZE ? this.#tooLarge() : toReason(code, reason)
    // A violation of the WebSocket protocol would happen again.
    const isLost = code === CLOSE.moved || (code === ABNORMAL && !problem.startsWith('WS_ERR_'))
    const canResume = isLost && this.#messages.failure === undefined
    if (canResume && this.#session !== undefined) this.#resume(this.#session, why)
    else this.#down(why)
    this.#onGone?.()
  }

  #resume(session: ClientSession, why: McpError): void {
    const { limits, open, events } = this.#options
    events.onNote?.('stream', `${why.message}; resuming the session`)
    void session.resume({
      limits,
      open,
      signal: this.#closing.signal,
      take: (socket, ack) => this.#rejoin(socket, session, ack, why),
      onEnd: (reason = why) => this.#down(reason),
    })
  }

  #rejoin(socket: ClientSocket, session: ClientSession, ack: SessionAck | undefined, why: McpError): void {
    const missed = ack?.id === session.id ? session.missedAfter(ack.count) : undefined
    if (missed === undefined) {
      socket.onclose = null
      socket.close(CLOSE.done)
      return this.#down(why)
    }
    this.#use(socket)
    for (const text of missed) socket.send(text)
  }

  readonly #tooLarge = (): McpError =>
    mcpError(ANSWER_TOO_LARGE, {
      limit: this.#options.limits.clientBytes,
      unit: 'bytes in one message',
    })

  #fail(reason: McpError): void {
    this.#down(reason)
    this.#socket?.close(CLOSE.done)
  }

  #down(reason: McpError): void {
    if (this.#messages.failure !== undefined) return
    this.#end()
    this.#messages.fail(reason)
    this.#options.events.onDown(reason)
  }

  #end(): void {
    this.#closing.abort()
    this.#session?.end()
  }
}

const OVERSIZE = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'

function weTooLarge(method: string): McpError {
  return new McpError('too_large', `${method} is larger than the server accepts`)
}
