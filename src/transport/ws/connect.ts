import { dial, remedyOf } from '#ws'
import { McpError, mcpError } from '../../protocol/errors.ts'
import type { ClientLimits } from '../../protocol/client-limits.ts'
import type { Line, LineEvents, OpenLine } from '../../rpc/line.ts'
import { Pipe } from '../../rpc/pipe.ts'
import { answeredId, receiveText } from '../receive.ts'
import { afterMs, within } from '../timer.ts'
import type { ClientSocket, DialOptions } from './client-socket.ts'
import { CLOSE } from './close-codes.ts'
import { PROTOCOLS } from './protocols.ts'

export interface ConnectWsOptions extends Pick<DialOptions, 'headers' | 'tls' | 'heartbeatMs'> {
  readonly limits: Pick<ClientLimits, 'clientBytes' | 'depth'>
  /** How long the server may take to open the connection. */
  readonly openMs?: number
}

const OPEN = 1
const OPEN_MS = 30_000
const CLOSE_MS = 2000

/** A line to a server over WebSocket, one message a frame. */
export function connectWs(url: URL, options: ConnectWsOptions): OpenLine {
  const { headers, tls, heartbeatMs, limits } = options
  return async (events) => {
    const socket = dial(url, {
      protocols: PROTOCOLS,
      headers,
      tls,
      heartbeatMs,
      maxBytes: limits.clientBytes,
    })
    return opened(socket, url, options.openMs ?? OPEN_MS, () => openLine(socket, events, limits))
  }
}

/** Waits for the connection, and takes it in the very moment: a message may follow at once. */
function opened(socket: ClientSocket, url: URL, openMs: number, take: () => Line): Promise<Line> {
  return new Promise((resolve, reject) => {
    const timer = afterMs(openMs, () => fail(`it did not answer within ${openMs} ms`))
    let cause: unknown
    socket.onopen = () => {
      clearTimeout(timer)
      resolve(take())
    }
    socket.onerror = ({ error }) => (cause = error)
    socket.onclose = ({ code, reason }) =>
      fail(whyNot(cause, url) ?? (code === ABNORMAL ? UNTOLD : told(code, reason)))

    function fail(reason: string): void {
      clearTimeout(timer)
      socket.onclose = null
      drop(socket)
      const status = statusOf(cause)
      const extras = { cause, ...(status !== undefined && { data: { status } }) }
      reject(
        mcpError('connect_failed', { target: `${url.protocol}//${url.host}${url.pathname}`, reason }, extras),
      )
    }
  })
}

function openLine(socket: ClientSocket, events: LineEvents, limits: ConnectWsOptions['limits']): Line {
  const { clientBytes, depth } = limits
  const pipe = new Pipe({ events, write })
  let noted = false
  let isTooLarge = false
  let onGone: (() => void) | undefined
  socket.onmessage = ({ data }) => take(data)
  socket.onerror = ({ error }) => (isTooLarge ||= codeOf(error) === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
  socket.onclose = ({ code, reason }) => {
    if (code === CLOSE.tooLarge) pipe.refuse(pipe.only, weTooLarge)
    down(isTooLarge ? tooLarge() : toReason(code, reason))
    onGone?.()
  }
  return {
    cancels: 'message',
    request: (outgoing) => pipe.request(outgoing),
    async send(text) {
      if (pipe.failure !== undefined) throw pipe.failure
      write(text)
    },
    agree: () => undefined,
    async close() {
      pipe.fail(mcpError('closed', {}))
      if (socket.readyState > OPEN) return
      socket.close(CLOSE.done)
      await within(CLOSE_MS, (gone) => void (onGone = gone))
      drop(socket)
    },
  }

  function write(text: string): void {
    if (socket.bufferedAmount > clientBytes) throw mcpError('overloaded', {}, { retryAfterMs: 1000 })
    socket.send(text)
  }

  function take(data: unknown): void {
    if (pipe.failure !== undefined) return
    if (typeof data !== 'string')
      return leave(mcpError('bad_answer', { method: 'a message', issue: 'it is binary' }))
    // A runtime without a limit of its own has read it all the same; it is not looked at.
    if (data.length > clientBytes)
      return void (pipe.refuse(answeredId(data) ?? pipe.only, tooLarge) || leave(tooLarge()))
    if (receiveText(pipe, data, depth) || noted) return
    noted = true
    events.onNote?.('stream', 'the server sends things that are no messages')
  }

  function tooLarge(): McpError {
    return mcpError('answer_too_large', { limit: clientBytes, unit: 'bytes in one message' })
  }

  function leave(reason: McpError): void {
    down(reason)
    socket.close(CLOSE.done)
  }

  function down(reason: McpError): void {
    if (pipe.failure !== undefined) return
    pipe.fail(reason)
    events.onDown(reason)
  }
}

function weTooLarge(method: string): McpError {
  return new McpError('too_large', `${method} is larger than the server takes`)
}

/** What the end of a connection means for those who wait. */
function toReason(code: number, reason: string): McpError {
  if (code === CLOSE.tryLater) return mcpError('overloaded', {}, { data: { code } })
  return new McpError('stream_lost', told(code, reason), { data: { code } })
}

function told(code: number, reason: string): string {
  if (code === CLOSE.goingAway) return 'the server is going away'
  if (code === ABNORMAL) return 'the connection broke'
  return `the server closed the connection with code ${code}${reason === '' ? '' : `: ${reason}`}`
}

const ABNORMAL = 1006
const UNTOLD = 'the server did not take it; in a browser, it must allow the origin of the page'

function whyNot(cause: unknown, url: URL): string | undefined {
  const status = statusOf(cause)
  return status === undefined ? remedyOf(cause, url) : `it answered with HTTP status ${status}`
}

/** The status of a server that answered in HTTP, which the library has in words only. */
function statusOf(cause: unknown): number | undefined {
  const found = cause instanceof Error ? /^Unexpected server response: (\d{3})$/.exec(cause.message) : null
  return found === null ? undefined : Number(found[1])
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code
}

function drop(socket: ClientSocket): void {
  if (socket.terminate === undefined) socket.close()
  else socket.terminate()
}
