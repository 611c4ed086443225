import { connect, type Socket } from 'node:net'
import { FIRST_ID, INITIALIZED, callOf, pingText } from '../messages.ts'
import { type Held, inTurns } from './held-sockets.ts'
import { openQuickly, postMany } from './sessions.ts'

const NEWS_MS = 30_000
const NEWS = 'notifications/tools/list_changed'

/**
 * Holds Streamable HTTP sessions of 2025-11-25, each with its stream from the server open. A session that is pinged must
 * answer, and then hear on its stream of a change that one call makes.
 */
export function holdStreams(port: number): Held {
  const streams: Stream[] = []
  const close = (): void => {
    for (const stream of streams) stream.close()
  }
  return { open, ping, close }

  async function open(count: number): Promise<void> {
    const ids = await openQuickly(port, count)
    await postMany(
      port,
      ids.map((session) => ({ session, body: INITIALIZED })),
      (_, answer) => expectStatus(answer, 202),
    )
    const opened = ids.map((id) => new Stream(port, id))
    await inTurns(opened.length, (index) => opened[index]!.open())
    streams.push(...opened)
    const answered = await pingAll(opened)
    if (answered.some((is) => !is)) throw new Error('a first ping was not answered')
  }

  async function ping(): Promise<number> {
    const answered = await pingAll(streams)
    const [one] = streams
    if (one === undefined) return 0
    for (const stream of streams) stream.news = 0
    const body = callOf(FIRST_ID, 'change', {})
    await postMany(port, [{ session: one.id, body }], (_, answer) => expectStatus(answer, 200))
    const until = performance.now() + NEWS_MS
    while (streams.some(({ isOpen, news }) => isOpen && news === 0) && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 50))
    return streams.filter(({ isOpen, news }, index) => isOpen && news === 1 && answered[index]).length
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
  /** How often it told of a change. */
  news = 0

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
        const said = (bytes as Buffer).toString('latin1', 0, size)
        if (said.includes(NEWS)) this.news++
        if (this.isOpen) return true
        this.isOpen = said.startsWith('HTTP/1.1 200') && /text\/event-stream/i.test(said)
        if (this.isOpen) done()
        else fail(new Error(`no stream: ${said.slice(0, 400)}`))
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

/** What comes is read before anything else can come. */
const SHARED = Buffer.allocUnsafe(16 * 1024)

function expectStatus(answer: string, status: number): void {
  if (!answer.startsWith(`HTTP/1.1 ${status}`)) throw new Error(`wrong answer: ${answer.slice(0, 400)}`)
}
