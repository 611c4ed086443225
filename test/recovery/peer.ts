import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { createServer as createTcp, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, onTestFinished } from 'vitest'
import { WebSocketServer } from 'ws'
import type { Target } from '../../src/client.ts'
import { refusalNamed, refusalRow } from '../../src/errors/refusal.ts'
import { bundle } from '../harness/bundle.ts'
import { isError, replyTo, respond, type Asked, type Memory, type Turn } from './script.ts'

export const TRANSPORTS = ['http', 'tcp', 'ws', 'stdio'] as const
export type Transport = (typeof TRANSPORTS)[number]

/** A server that plays a script. */
export interface Peer {
  readonly target: Target
  readonly memory: Memory
  /** The authorization of each call, or of each connection where calls have none. */
  readonly shown: (string | undefined)[]
}

const STARTS: Readonly<Record<Transport, (turns: readonly Turn[]) => Promise<Peer>>> = {
  http: startHttp,
  tcp: startTcp,
  ws: startWs,
  stdio: startStdio,
}

export function startPeer(transport: Transport, turns: readonly Turn[]): Promise<Peer> {
  return STARTS[transport](turns)
}

/** The error of a refusal as a server of ours would send it, but for its kind. */
export function refusal(code: number, retryAfterMs?: number): Exclude<Turn, string> {
  const name = refusalNamed(code)
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs }
  return { code: -32000, message: `refused: ${name}`, data: { refusal: { code, name, ...wait } } }
}

async function listening(server: Server, sockets: Set<Socket>): Promise<number> {
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function startHttp(turns: readonly Turn[]): Promise<Peer> {
  const memory: Memory = { calls: 0, opens: 0 }
  const shown: (string | undefined)[] = []
  const server = createHttp((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      if (request.method !== 'POST') return response.writeHead(405).end()
      const asked = JSON.parse(body) as Asked
      const turn = respond(turns, memory, asked)
      if (asked.method === 'tools/call') shown.push(request.headers.authorization)
      if (turn === undefined) return response.writeHead(202).end()
      if (turn === 'cut') return request.socket.destroy()
      if (turn === 'silence') return undefined
      const headers = { 'content-type': 'application/json' }
      return response.writeHead(statusOf(turn), headers).end(replyTo(asked, turn))
    })
  })
  const port = await listening(server, new Set())
  return { target: `http://127.0.0.1:${port}/mcp`, memory, shown }
}

/** The status with which a server refuses before it looks at a request. */
function statusOf(turn: object): number {
  const named = isError(turn as Turn)
    ? ((turn as { data?: { refusal?: { name?: unknown } } }).data?.refusal?.name ?? '')
    : ''
  const status = refusalRow(named)?.http ?? 200
  return status === 401 || status === 429 || status === 503 ? status : 200
}

async function startTcp(turns: readonly Turn[]): Promise<Peer> {
  const memory: Memory = { calls: 0, opens: 0 }
  const server = createTcp((socket) => {
    createInterface({ input: socket }).on('line', (line) => {
      const asked = JSON.parse(line) as Asked
      const turn = respond(turns, memory, asked)
      if (turn === 'cut') socket.destroy()
      else if (turn !== undefined && turn !== 'silence') socket.write(`${replyTo(asked, turn)}\n`)
    })
  })
  const port = await listening(server, new Set())
  return { target: `tcp://127.0.0.1:${port}`, memory, shown: [] }
}

async function startWs(turns: readonly Turn[]): Promise<Peer> {
  const memory: Memory = { calls: 0, opens: 0 }
  const shown: (string | undefined)[] = []
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  onTestFinished(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })
  server.on('connection', (socket, request) => {
    shown.push(request.headers.authorization)
    socket.on('error', () => undefined)
    socket.on('message', (data: Buffer) => {
      const asked = JSON.parse(data.toString()) as Asked
      const turn = respond(turns, memory, asked)
      if (turn === 'cut') socket.terminate()
      else if (turn !== undefined && turn !== 'silence') socket.send(replyTo(asked, turn))
    })
  })
  return { target: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, memory, shown }
}

const folder = mkdtempSync(join(tmpdir(), 'recovery-'))
afterAll(() => rmSync(folder, { recursive: true }))
const program = bundle(new URL('stdio-server.ts', import.meta.url), join(folder, 'server.mjs'))
let files = 0

async function startStdio(turns: readonly Turn[]): Promise<Peer> {
  const file = join(folder, `memory-${files++}.json`)
  writeFileSync(file, JSON.stringify({ calls: 0, opens: 0 }))
  const read = (): Memory => JSON.parse(readFileSync(file, 'utf8')) as Memory
  const memory: Memory = {
    get calls() {
      return read().calls
    },
    get opens() {
      return read().opens
    },
  }
  const target = { command: process.execPath, args: [program, JSON.stringify(turns), file] }
  return { target, memory, shown: [] }
}
