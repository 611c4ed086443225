import { connect, type Socket } from 'node:net'
import { FIRST_ID, INITIALIZED, callOf, pingText } from '../messages.ts'
import { type HeldSessions, runBounded } from './held-sockets.ts'
import { openManySessions, postMany } from './many-posts.ts'

const NOTIFICATION_MS = 30_000
const LIST_CHANGED = 'notifications/tools/list_changed'

/**
 * Holds Streamable HTTP sessions of 2025-11-25, each with an open stream from the server. A pinged session must answer and
 * then receive a notification on its stream, which one call triggers.
 */
export function holdStreams(port: number): HeldSessions {
  const streams: Stream[] = []
  const close = (): void => {
    for (const stream of streams) stream.close()
  }
  return { open, ping, close }

  async function open(count: number): Promise<void> {
    const ids = await openManySessions(port, count)
    await postMany(
      port,
      ids.map((session) => ({ session, body: INITIALIZED })),
      (_, answer) => expectStatus(answer, 202),
    )
    const opened = ids.map((id) => new Stream(port, id))
    await runBounded(opened.length, (index) => opened[index]!.open())
    streams.push(...opened)
    const answered = await pingAll(opened)
    if (answered.includes(false)) throw new Error('a first ping was not answered')
  }

  async function ping(): Promise<number> {
    const answered = await pingAll(streams)
    const [one] = streams
    if (one === undefined) return 0
    for (const stream of streams) stream.notifications = 0
    const body = callOf(FIRST_ID, 'change', {})
    await postMany(port, [{ session: one.id, body }], (_, answer) => expectStatus(answer, 200))
    const until = performance.now() + NOTIFICATION_MS
    while (
      streams.some(({ isOpen, notifications }) => isOpen && notifications === 0) &&
      performance.now() < until
    )
      await new Promise((resolve) => setTimeout(resolve, 50))
    return streams.filter(
      ({ isOpen, notifications }, index) => isOpen && notifications === 1 && answered[index],
    ).length
  }

  async function pingAll(pinged: readonly Stream[]): Promise<readonly boolean[]> {
    const answered = pinged.map(() => false)
    const posts = pinged.map(({ id }, index) => ({ session: id, body: pingText(FIRST_ID + index) }))
    await postMany(port, posts, (index, answer) => {
      answered[index] =
        answer.startsWith('HTTP/1.1 200') && answer.includes(`"id":${FIRST_ID + index},"result"`)
    })
    return answered
  }
}

class Stream {
  readonly id: string
  readonly #port: number
  #socket: Socket | undefined
  isOpen = false
  /** The number of notifications received. */
  notifications = 0

  constructor(port: number, id: string) {
    this.#port = port
    this.id = id
  }

  close(): void {
    this.#socket?.destroy()
  }

  open(): Promise<void> {
    const head = [
      'GET /mcp HTTP/1.1',
      `Host: 127.0.0.1:${this.#port}`,
      'Accept: text/event-stream',
      'MCP-Protocol-Version: 2025-11-25',
      `Mcp-Session-Id: ${this.id}`,
    ]
    return new Promise((done, fail) => {
      const callback = (size: number, bytes: Uint8Array): boolean => {
        const text = (bytes as Buffer).toString('latin1', 0, size)
        if (text.includes(LIST_CHANGED)) this.notifications++
        if (this.isOpen) return true
        this.isOpen = text.startsWith('HTTP/1.1 200') && /text\/event-stream/i.test(text)
        if (this.isOpen) done()
        else fail(new Error(`no stream: ${text.slice(0, 400)}`))
        return true
      }
      const socket = (this.#socket = connect({
        host: '127.0.0.1',
        port: this.#port,
        onread: { buffer: SHARED, callback },
      }))
      socket.on('connect', () => socket.write(`${head.join('\r\n')}\r\n\r\n`))
      socket.on('error', fail)
      socket.on('close', () => {
        this.isOpen = false
        fail(new Error('the server closed a stream'))
      })
    })
  }
}

/** One read buffer for all streams, since each read is processed before the next one. */
const SHARED = Buffer.allocUnsafe(16 * 1024)

function expectStatus(answer: string, status: number): void {
  if (!answer.startsWith(`HTTP/1.1 ${status}`)) throw new Error(`wrong answer: ${answer.slice(0, 400)}`)
}
