import { connect } from 'node:net'
import { FIRST_ID, initializeText } from '../messages.ts'
import { AnswerReader, END_OF_HEAD } from './reader.ts'

const CONNECTIONS = 16
const STALL_MS = 30_000

/** The body of a POST, and its session. */
export interface Post {
  readonly body: string
  readonly session?: string
}

/** Opens many 2025 sessions over a few keep-alive connections and returns their ids. */
export async function openManySessions(port: number, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  const body = initializeText(FIRST_ID)
  await postMany(
    port,
    Array.from({ length: count }, () => ({ body })),
    (_, answer) => {
      const id = /\r\nmcp-session-id: *(\S+)/i.exec(answer)?.[1]
      if (id === undefined) throw new Error(`no session: ${answer.slice(0, 600)}`)
      ids.push(id)
    },
  )
  return ids
}

/** Sends many requests over a few keep-alive connections; `take` gets the complete response to each. */
export async function postMany(
  port: number,
  posts: readonly Post[],
  take: (index: number, answer: string) => void,
): Promise<void> {
  let next = 0
  const nextIndex = (): number | undefined => (next < posts.length ? next++ : undefined)
  await Promise.all(Array.from({ length: CONNECTIONS }, () => postOver(port, posts, { nextIndex, take })))
}

function postOver(
  port: number,
  posts: readonly Post[],
  { nextIndex, take }: { nextIndex(): number | undefined; take(index: number, answer: string): void },
): Promise<void> {
  return new Promise((done, fail) => {
    const answer = new AnswerReader()
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    let current = -1
    const next = (): void => {
      const index = nextIndex()
      if (index === undefined) return void socket.end(done)
      current = index
      socket.write(postText(port, posts[index]!))
    }
    socket.on('connect', next)
    socket.on('error', fail)
    socket.on('close', () => fail(new Error('the server closed a connection')))
    socket.setTimeout(STALL_MS, () => socket.destroy(new Error('an answer timed out')))
    socket.on('data', (bytes) => {
      if (!answer.push(bytes, bytes.length)) return
      try {
        take(current, answer.text)
      } catch (error) {
        return void socket.destroy(error as Error)
      }
      answer.clear()
      next()
    })
  })
}

function postText(port: number, { body, session }: Post): string {
  const lines = [
    'POST /mcp HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    ...(session === undefined ? [] : [`Mcp-Session-Id: ${session}`, 'MCP-Protocol-Version: 2025-11-25']),
    `Content-Length: ${body.length}`,
  ]
  return `${lines.join('\r\n')}${END_OF_HEAD}${body}`
}
