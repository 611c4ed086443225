/** The framing of messages on a wire. */
export interface Framing {
  /** Encodes a message from a client. */
  encode(text: string): Buffer
  /** Finds the next complete message from an offset on; undefined if it is incomplete. */
  next(bytes: Buffer, at: number): MessageBounds | undefined
}

/** The start and end of a message, and the start of the next one. */
export interface MessageBounds {
  readonly from: number
  readonly to: number
  readonly end: number
}

const LF = 10

/** One message per line: stdio and TCP. */
export const LINES: Framing = {
  encode: (text) => Buffer.from(`${text}\n`),
  next(bytes, at) {
    const to = bytes.indexOf(LF, at)
    return to < 0 ? undefined : { from: at, to, end: to + 1 }
  },
}

const TEXT_FRAME = 0x81
const MASKED = 0x80
const MASK = [0x37, 0xfa, 0x21, 0x3d]

/** One message per text frame: WebSocket. Client frames are masked, as RFC 6455 requires. */
export const FRAMES: Framing = {
  encode(text) {
    const payload = Buffer.from(text)
    const head =
      payload.length < 126
        ? [MASKED | payload.length]
        : [MASKED | 126, payload.length >> 8, payload.length & 255]
    for (let place = 0; place < payload.length; place++)
      payload[place] = (payload[place] ?? 0) ^ (MASK[place & 3] ?? 0)
    return Buffer.concat([Buffer.from([TEXT_FRAME, ...head, ...MASK]), payload])
  },
  next(bytes, at) {
    if (at + 4 > bytes.length) return undefined
    if (bytes[at] !== TEXT_FRAME) throw new Error(`a frame begins with ${bytes[at]}`)
    const short = bytes[at + 1] ?? 0
    if (short > 126) throw new Error('a frame is too long')
    const from = short < 126 ? at + 2 : at + 4
    const to = from + (short < 126 ? short : bytes.readUInt16BE(at + 2))
    return to > bytes.length ? undefined : { from, to, end: to }
  },
}

const END_OF_HEAD = '\r\n\r\n'

/** One POST per message, with the answer in the response body: HTTP in a session. */
export function posts(port: number, session: string | undefined): Framing {
  const lines = [
    'POST /mcp HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'MCP-Protocol-Version: 2025-11-25',
    ...(session === undefined ? [] : [`Mcp-Session-Id: ${session}`]),
  ]
  return {
    encode: (text) =>
      Buffer.from([...lines, `Content-Length: ${Buffer.byteLength(text)}`].join('\r\n') + END_OF_HEAD + text),
    next(bytes, at) {
      const headEnd = bytes.indexOf(END_OF_HEAD, at)
      if (headEnd < 0) return undefined
      const head = bytes.toString('latin1', at, headEnd)
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)
      if (!head.startsWith('HTTP/1.1 200') || !length) throw new Error(`wrong answer: ${head}`)
      const from = headEnd + END_OF_HEAD.length
      const to = from + Number(length[1])
      return to > bytes.length ? undefined : { from, to, end: to }
    },
  }
}
