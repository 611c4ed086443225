import { connect } from 'node:net'
import { FIRST_ID, initializeText } from '../messages.ts'
import { AnswerReader, END_OF_HEAD } from './reader.ts'

const CONNECTIONS = 16
const STALL_MS = 30_000

/** Opens many 2025 sessions over a few keep-alive connections, and gives their ids. */
export async function openQuickly(port: number, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  let left = count
  const mayOpen = (): boolean => left-- > 0
  await Promise.all(Array.from({ length: CONNECTIONS }, () => openOver(port, ids, mayOpen)))
  return ids
}

function openOver(port: number, ids: string[], mayOpen: () => boolean): Promise<void> {
  const body = initializeText(FIRST_ID)
  const lines = [
    'POST /mcp HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Content-Length: ${body.length}`,
  ]
  const request = `${lines.join('\r\n')}${END_OF_HEAD}${body}`
  return new Promise((done, fail) => {
    const answer = new AnswerReader()
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    const next = (): void => {
      if (mayOpen()) socket.write(request)
      else socket.end(done)
    }
    socket.on('connect', next)
    socket.on('error', fail)
    socket.on('close', () => fail(new Error('the server closed a connection')))
    socket.setTimeout(STALL_MS, () => socket.destroy(new Error('an answer did not come in time')))
    socket.on('data', (bytes) => {
      if (!answer.push(bytes, bytes.length)) return
      const id = /\r\nmcp-session-id: *(\S+)/i.exec(answer.text)?.[1]
      if (id === undefined) return void socket.destroy(new Error(`no session: ${answer.text.slice(0, 600)}`))
      ids.push(id)
      answer.clear()
      next()
    })
  })
}
