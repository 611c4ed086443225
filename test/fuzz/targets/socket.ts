import { connect } from 'node:net'
import type { Running } from '../../../src/app/listen/listen.ts'
import { watched, type Watched } from '../app.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { anyRequest, type HttpRequest } from '../http-requests.ts'
import { cut, mutateBytes, mutateText } from '../mutate.ts'
import type { Random } from '../random.ts'
import { readReply } from '../replies.ts'
import { anyText } from '../values.ts'

interface Input {
  readonly pieces: readonly Uint8Array[]
  readonly index: number
}

let served: Watched
let running: Running
let port = 0

/** Whatever bytes a connection carries, what comes back is HTTP, and the next client is served. */
export const socketTarget: Target = target<Input>({
  name: 'socket',
  share: 0.75,
  async start() {
    served = watched()
    running = await served.app.listen({ http: { port: 0 }, onUncaught: 'exit' })
    port = Number(new URL(running.url as string).port)
  },
  make(random, index) {
    const text = Array.from({ length: random.oneIn(8) ? 2 : 1 }, () =>
      requestText(anyRequest(random), random),
    ).join('')
    const bytes = Buffer.from(random.oneIn(3) ? mutateText(text, random, HTTP_TOKENS) : text, 'utf8')
    return { pieces: cut(random.oneIn(4) ? mutateBytes(bytes, random) : bytes, random).slice(0, 400), index }
  },
  async check({ pieces, index }) {
    served.faults.length = 0
    const text = await exchange(pieces)
    checkHttp(text)
    claim(served.faults.length === 0, `a fault in the server: ${served.faults[0]}`)
    if (index % 100 === 0) await alive()
  },
  async end() {
    await running.close()
  },
})

const HTTP_TOKENS = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  ' ',
  ':',
  '\t',
  '0\r\n\r\n',
  'HTTP/1.0',
  'HTTP/9.9',
  'Transfer-Encoding: chunked\r\n',
  'Content-Length: 5\r\n',
  'Host: a\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: websocket\r\nConnection: upgrade\r\n',
  '%',
  '/../',
  '\0',
  'x'.repeat(5000),
]

function requestText({ verb, headers, body }: HttpRequest, random: Random): string {
  const target = random.oneIn(10)
    ? random.pick([
        '/',
        '/mcp?x=1',
        '/mcp/',
        '*',
        'http://localhost/mcp',
        '/healthz',
        '/readyz',
        `/${anyText(random)}`,
      ])
    : '/mcp'
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const host = random.oneIn(12)
    ? random.pick(['', 'Host: evil.example', 'Host: localhost\r\nHost: localhost'])
    : 'Host: localhost'
  const length = Buffer.byteLength(body)
  const chunked = random.oneIn(6)
  const framing = chunked
    ? 'Transfer-Encoding: chunked'
    : `Content-Length: ${random.oneIn(12) ? random.pick([0, -1, length + 5, 'x', 1e12]) : length}`
  const sent = chunked ? `${length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body
  return (
    [`${verb} ${target} HTTP/1.1`, host, ...lines, framing].filter((line) => line !== '').join('\r\n') +
    `\r\n\r\n${sent}`
  )
}

const PATIENCE_MS = 4

/** Sends everything, and reads until the other end is done or has nothing to say. */
function exchange(pieces: readonly Uint8Array[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect({ port, host: '127.0.0.1' })
    let ending: NodeJS.Timeout | undefined
    const end = (): void => {
      socket.end()
      ending = setTimeout(() => socket.destroy(), 1000)
    }
    let timer: NodeJS.Timeout | undefined
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      clearTimeout(timer)
      timer = setTimeout(end, 0)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.on('close', () => {
      clearTimeout(timer)
      clearTimeout(ending)
      resolve(Buffer.concat(chunks).toString('latin1'))
    })
    socket.on('connect', () => {
      for (const piece of pieces) socket.write(piece)
      timer = setTimeout(end, pieces.length === 0 ? 0 : PATIENCE_MS)
    })
  })
}

/** Whether a text is a row of whole HTTP replies; the last may be a stream that was cut off. */
function checkHttp(text: string): void {
  for (let rest = text; rest !== '';) {
    const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n:]+:[^\r\n]*\r\n)*)\r\n/.exec(rest)
    claim(head !== null, `what came back is not HTTP: ${rest.slice(0, 300)}`)
    const [whole, status = '', lines = ''] = head as RegExpExecArray
    rest = rest.slice(whole.length)
    if (status === '100') continue
    const headers = new Map(
      lines
        .split('\r\n')
        .map((line) => [line.split(':', 1)[0]!.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    if (headers.get('transfer-encoding') === 'chunked') return
    const length = Number(headers.get('content-length') ?? 0)
    const body = rest.slice(0, length)
    // A reply to HEAD says how long its body would be.
    if (
      body.length === length &&
      headers.get('content-type') === 'application/json' &&
      body !== '' &&
      !body.startsWith('HTTP')
    )
      readReply(Buffer.from(body, 'latin1').toString())
    rest = rest.startsWith('HTTP') ? rest : rest.slice(length)
  }
}

async function alive(): Promise<void> {
  const body =
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}'
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  const response = await fetch(running.url as string, { method: 'POST', headers, body })
  claim(response.status === 200, `after that, a good request gets ${response.status}`)
  await response.text()
  const session = response.headers.get('mcp-session-id') as string
  await fetch(running.url as string, { method: 'DELETE', headers: { 'mcp-session-id': session } })
}
