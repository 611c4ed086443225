// How clients of the chaos test speak HTTP: without any code of ours, so that a fault of our client cannot hide one of our server.
import { Agent, request, type IncomingMessage } from 'node:http'
import { NODE_HEADER } from './chaos-proxy.ts'

/** A request to the server. */
export interface Asked {
  readonly url: string
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** When to break the connection, in milliseconds from the beginning; never if it is not given. */
  readonly dropMs?: number
  /** Called if the connection was broken before the reply had ended. */
  readonly onDropped?: () => void
}

export interface Replied {
  readonly status: number
  readonly session: string | undefined
  readonly text: string
}

/** An event of a stream; most have an id. */
export interface StreamEvent {
  readonly id: string | undefined
  readonly data: string
}

/** A stream that is open. */
export interface OpenStream {
  readonly status: number
  /** The node that replied. */
  readonly node: string | undefined
  /** Resolves when the connection has ended, in whatever way. */
  readonly ended: Promise<void>
  /** Breaks the connection. */
  drop(): void
}

const agent = new Agent({ keepAlive: true })

/** A node may stand still: after this time without a byte, clients go elsewhere. */
export const SILENCE_MS = 5000

/** Sends a request and reads the whole reply; undefined if none came. */
export async function exchange(asked: Asked): Promise<Replied | undefined> {
  try {
    const reply = await begin(asked)
    let text = ''
    reply.setEncoding('utf8')
    for await (const chunk of reply) text += chunk as string
    const session = reply.headers['mcp-session-id']
    return {
      status: reply.statusCode ?? 0,
      session: typeof session === 'string' ? session : undefined,
      text: text.replace(/^[^]*?^data: (?=\{)/m, ''),
    }
  } catch {
    return undefined
  }
}

/** Sends a request and passes on the events of its reply; undefined if none came. */
export async function openStream(
  asked: Asked,
  onEvent: (event: StreamEvent) => void,
): Promise<OpenStream | undefined> {
  let reply: IncomingMessage
  try {
    reply = await begin(asked)
  } catch {
    return undefined
  }
  let rest = ''
  reply.setEncoding('utf8')
  reply.on('data', (text: string) => {
    const parts = `${rest}${text}`.split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const event = eventIn(part)
      if (event !== undefined) onEvent(event)
    }
  })
  const ended = new Promise<void>((resolve) => {
    reply.once('close', resolve)
    reply.once('error', () => resolve())
  })
  const node = reply.headers[NODE_HEADER]
  return {
    status: reply.statusCode ?? 0,
    node: typeof node === 'string' ? node : undefined,
    ended,
    drop: () => void reply.destroy(),
  }
}

function begin({ url, method, headers, body, dropMs, onDropped }: Asked): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent }, resolve)
    if (dropMs !== undefined) {
      const timer = setTimeout(() => {
        onDropped?.()
        sent.destroy(new Error('dropped'))
      }, dropMs)
      sent.once('close', () => clearTimeout(timer))
    }
    sent.setTimeout(SILENCE_MS, () => sent.destroy(new Error('silence')))
    sent.once('error', reject)
    sent.end(body)
  })
}

/** The event in a block of lines; undefined if it is a comment. */
function eventIn(block: string): StreamEvent | undefined {
  const lines = block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line))
  const value = (name: string): string | undefined => lines.find((line) => line?.[1] === name)?.[2]
  const [id, data] = [value('id'), value('data')]
  return id === undefined && data === undefined ? undefined : { id, data: data ?? '' }
}
