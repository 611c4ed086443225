import { connect, type Socket } from 'node:net'
import { type Extent, failOnStall, startRound } from '../extent.ts'
import { Histogram } from '../histogram.ts'
import {
  FIRST_ID,
  INITIALIZED,
  ID_DIGITS,
  SUM_DIGITS,
  type Numbered,
  type Revision,
  callText,
  initializeText,
  listText,
  numbered,
  progressText,
} from '../messages.ts'
import { usageOf } from '../usage.ts'
import { putDigits } from './exchange.ts'
import { AnswerReader, END_OF_HEAD } from './reader.ts'
import { openManySessions } from './many-posts.ts'

/** An HTTP server under load. */
export interface HttpTarget {
  readonly port: number
  readonly pid: number
  /** `progress` is a call whose answer must be a stream that begins with a progress event. */
  readonly work: 'call' | 'list' | 'progress'
  readonly revision: Revision
  readonly connections: number
  /** Whether calls are spread over the sessions of the pool; no two connections use the same one. */
  readonly spread?: boolean
  /** The token that every request carries. */
  readonly token?: string
}

/** One round of load: the number of answers, their latencies, and the CPU time of the server. */
export interface HttpRound {
  readonly count: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  readonly serverCpuMs: number
}

/** A 2025 session; a bare server assigns no id. */
interface Session {
  readonly id: string | undefined
  readonly revision: string
}

/** The time for the answer to a request outside a round. */
const ANSWER_MS = 30_000
const sessions = new Map<string, Promise<readonly Session[]>>()
/** The ids of the sessions in the pool, by port. */
const sessionPools = new Map<number, string[]>()

/** Keeps one request in flight on each connection; throws at the first wrong answer. */
export async function loadHttp(target: HttpTarget, extent: Extent): Promise<HttpRound> {
  const opened = await sessionsOf(target)
  const cpuBefore = usageOf(target.pid).cpuMs
  const start = performance.now()
  const round: Round = { latencies: new Histogram(), isOver: startRound(extent), count: 0, length: 0 }
  const clients = opened.map((session, index) => new Client(target, session, index, round))
  try {
    await failOnStall(Promise.all(clients.map((client) => client.run())), () => round.count)
  } finally {
    for (const client of clients) client.close()
  }
  return {
    count: round.count,
    seconds: (performance.now() - start) / 1000,
    p50: round.latencies.percentile(0.5),
    p99: round.latencies.percentile(0.99),
    serverCpuMs: usageOf(target.pid).cpuMs - cpuBefore,
  }
}

/** The number of sessions that are opened at once; fastmcp takes a second for each. */
const AT_ONCE = 50

/** Opens 2025 sessions and leaves them idle. */
export async function openSessions(port: number, count: number): Promise<void> {
  for (let done = 0; done < count; done += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - done) }, () => openSession(port)))
}

/** Adds `count` sessions to the pool, over which calls can be spread. */
export async function openSessionPool(port: number, count: number): Promise<void> {
  const pool = sessionPools.get(port) ?? []
  sessionPools.set(port, pool)
  for (const id of await openManySessions(port, count)) pool.push(id)
}

/** Opens one 2025 session. */
export async function openSession(port: number): Promise<Session> {
  const answer = await post(port, initializeText(FIRST_ID), {})
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`initialize was answered with ${answer.status}: ${text}`)
  const id = answer.headers.get('mcp-session-id') ?? undefined
  const negotiated = /"protocolVersion":"([\d-]+)"/.exec(text)?.[1] ?? '2025-11-25'
  if (id !== undefined) {
    const headers = { 'mcp-session-id': id, 'mcp-protocol-version': negotiated }
    await (await post(port, INITIALIZED, headers)).arrayBuffer()
  }
  return { id, revision: negotiated }
}

/** Opens a session and sends one request in it. */
export async function postInSession(port: number, body: string): Promise<Response> {
  const { id = '', revision } = await openSession(port)
  return post(port, body, { 'mcp-session-id': id, 'mcp-protocol-version': revision })
}

/** Sends one request to an MCP endpoint. */
export function post(
  port: number,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { ...ACCEPT, ...headers },
    body,
    signal: AbortSignal.timeout(ANSWER_MS),
  })
}

const ACCEPT = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** Each connection is a client with its own session, which lasts for all rounds. */
function sessionsOf({ port, revision, connections, spread }: HttpTarget): Promise<readonly Session[]> {
  if (spread) {
    const [id] = sessionPools.get(port) ?? []
    return Promise.resolve(Array.from({ length: connections }, () => ({ id, revision })))
  }
  const key = `${port} ${revision} ${connections}`
  let opened = sessions.get(key)
  if (!opened) {
    const each = Array.from({ length: connections }, () =>
      revision === '2026-07-28' ? Promise.resolve({ id: undefined, revision }) : openSession(port),
    )
    sessions.set(key, (opened = Promise.all(each)))
  }
  return opened
}

interface Round {
  readonly latencies: Histogram
  readonly isOver: (count: number) => boolean
  count: number
  /** The length of the first list; all others must match it. */
  length: number
}

const READ_BYTES = 64 * 1024

/** One keep-alive connection: sends a prepared request, reads its answer, updates the digits and repeats. */
class Client {
  readonly #target: HttpTarget
  readonly #round: Round
  readonly #request: Buffer
  readonly #idAt: number
  readonly #aAt: number
  readonly #bAt: number
  readonly #tokenAt: number
  readonly #sessionAt: number
  readonly #sessionPool: readonly string[]
  readonly #answer = new AnswerReader()
  #index: number
  #sentAt = 0
  #socket: Socket | undefined
  #settle: { readonly done: () => void; readonly fail: (error: Error) => void } | undefined

  constructor(target: HttpTarget, session: Session, position: number, round: Round) {
    this.#target = target
    this.#round = round
    this.#index = position * 10_000
    const first = numbered(this.#index)
    const body = bodyText(target, first)
    this.#request = Buffer.from(`${headText(target, session, body.length)}${body}`, 'latin1')
    this.#idAt = this.#request.indexOf('"id":') + 5
    this.#aAt = this.#request.indexOf('"a":') + 4
    this.#bAt = this.#request.indexOf('"b":') + 4
    this.#tokenAt = this.#request.indexOf('"progressToken":') + 16
    this.#sessionAt = this.#request.indexOf('Mcp-Session-Id: ') + 16
    this.#sessionPool = target.spread
      ? partOf(sessionPools.get(target.port) ?? [], position, target.connections)
      : []
  }

  run(): Promise<void> {
    return new Promise<void>((done, fail) => {
      this.#settle = { done, fail }
      this.#socket = this.#open(fail)
    })
  }

  close(): void {
    this.#socket?.destroy()
  }

  #open(fail: (error: Error) => void): Socket {
    const onread = {
      buffer: Buffer.allocUnsafe(READ_BYTES),
      callback: (size: number, bytes: Uint8Array): boolean => {
        if (this.#answer.push(bytes as Buffer, size)) this.#take()
        return true
      },
    }
    const socket = connect({ host: '127.0.0.1', port: this.#target.port, noDelay: true, onread })
    socket.on('connect', () => this.#send())
    socket.on('error', fail)
    socket.on('close', () => fail(new Error('the server closed a connection')))
    return socket
  }

  #send(): void {
    const { id, a, b } = numbered(this.#index)
    putDigits(this.#request, this.#idAt, id, ID_DIGITS)
    if (this.#target.work !== 'list') {
      putDigits(this.#request, this.#aAt, a, SUM_DIGITS)
      putDigits(this.#request, this.#bAt, b, SUM_DIGITS)
    }
    if (this.#target.work === 'progress') putDigits(this.#request, this.#tokenAt, id, ID_DIGITS)
    // A prime step avoids visiting neighbouring sessions one after the other.
    const session = this.#sessionPool[(this.#index * 7919) % this.#sessionPool.length]
    if (session !== undefined) this.#request.write(session, this.#sessionAt, 'latin1')
    this.#sentAt = performance.now()
    this.#socket?.write(this.#request)
  }

  #take(): void {
    const now = performance.now()
    try {
      this.#check()
    } catch (error) {
      this.#settle?.fail(error as Error)
      return
    }
    this.#answer.clear()
    this.#round.latencies.add(now - this.#sentAt)
    this.#round.count++
    this.#index++
    if (this.#round.isOver(this.#round.count)) this.#settle?.done()
    else this.#send()
  }

  #check(): void {
    const { text } = this.#answer
    if (!text.startsWith('HTTP/1.1 200')) throw new Error(`wrong answer: ${text.slice(0, 600)}`)
    if (this.#target.work === 'list') return checkList(this.#answer, this.#round)
    if (this.#target.work === 'progress') checkProgress(text, this.#index)
    checkSum(text, this.#index)
  }
}

/** The sessions of a connection. */
function partOf(pool: readonly string[], position: number, connections: number): readonly string[] {
  const each = Math.floor(pool.length / connections)
  if (each === 0) throw new Error(`${pool.length} sessions are too few for ${connections} connections`)
  return pool.slice(position * each, (position + 1) * each)
}

function bodyText({ work, revision }: HttpTarget, first: Numbered): string {
  if (work === 'list') return listText(first.id, revision)
  return work === 'progress' ? progressText(first, revision) : callText(first, revision)
}

function headText(target: HttpTarget, session: Session, length: number): string {
  const at2026 = target.revision === '2026-07-28'
  const lines = [
    'POST /mcp HTTP/1.1',
    `Host: 127.0.0.1:${target.port}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `MCP-Protocol-Version: ${at2026 ? target.revision : session.revision}`,
    at2026 && `Mcp-Method: tools/${target.work === 'list' ? 'list' : 'call'}`,
    at2026 && target.work !== 'list' && 'Mcp-Name: add',
    session.id !== undefined && `Mcp-Session-Id: ${session.id}`,
    target.token !== undefined && `Authorization: Bearer ${target.token}`,
    `Content-Length: ${length}`,
  ]
  return `${lines.filter((line) => line !== false).join('\r\n')}${END_OF_HEAD}`
}

function checkSum(text: string, index: number): void {
  const { id, a, b } = numbered(index)
  if (text.includes(`"text":"${a + b}"`) && text.includes(`"id":${id}`)) return
  throw new Error(`wrong answer to ${id}, ${a} + ${b}: ${text.slice(0, 600)}`)
}

function checkProgress(text: string, index: number): void {
  const { id } = numbered(index)
  const progressAt = text.indexOf('"notifications/progress"')
  if (progressAt >= 0 && progressAt < text.indexOf('"result"') && text.includes(`"progressToken":${id}`))
    return
  throw new Error(`no progress before the answer to ${id}: ${text.slice(0, 800)}`)
}

function checkList({ text, length }: AnswerReader, round: Round): void {
  const body = length - text.indexOf(END_OF_HEAD)
  if (!text.includes('"wide-0"')) throw new Error(`wrong list: ${text.slice(0, 600)}`)
  if (round.length === 0) round.length = body
  // A chunked answer may be split in different places, and each chunk adds a few bytes.
  if (Math.abs(body - round.length) > round.length / 100) throw new Error('lists differ in length')
}
