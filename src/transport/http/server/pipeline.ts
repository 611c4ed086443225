import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { budgetsOf } from '../../io/budgets.ts'
import { WriteBudget, type WritePool } from '../../io/write-budget.ts'
import { callerOf, type HttpHandler, type HttpIn } from './parts.ts'

/** The memory that a waiting request takes besides its head and its reply. */
export const OVERHEAD = 8192

/** A connection. Only an internal property of Node shows whose turn it is to reply. */
interface Connection extends Socket {
  readonly _httpMessage?: ServerResponse | null
}

type Server = Pick<HttpHandler, 'service' | 'limits'>

const pipelines = new WeakMap<object, Pipeline>()

/**
 * Counts a request that arrived before an earlier one of its connection was answered; its reply has to wait for the earlier
 * one. Returns false if the connection was aborted because too much waits.
 */
export function enterPipeline(request: IncomingMessage, response: ServerResponse, server: Server): boolean {
  const socket = request.socket as Connection | undefined
  const current = socket?._httpMessage
  if (current === undefined || current === null || current === response) return true
  return enterBehind(socket as Connection, request, response, server)
}

/** Counts what was written of a reply, as long as it waits for an earlier one. */
export function countWaiting(response: ServerResponse, request: HttpIn | undefined): void {
  if (response.socket === null) pipelines.get(response)?.recount(response, request && callerOf(request))
}

/** Whether a reply waits for an earlier one of its connection. */
export function isWaiting(response: ServerResponse): boolean {
  return response.socket === null && pipelines.has(response)
}

function enterBehind(
  socket: Connection,
  request: IncomingMessage,
  response: ServerResponse,
  server: Server,
): boolean {
  if (socket.destroyed) return false
  if (pipelines.has(response)) return true
  let pipeline = pipelines.get(socket)
  if (pipeline === undefined) pipelines.set(socket, (pipeline = new Pipeline(socket, server)))
  pipelines.set(response, pipeline)
  return pipeline.enter(request, response)
}

interface Waiting {
  /** The memory that the request takes, and the reply so far. */
  readonly request: number
  reply: number
  /** Whose reply it is, once that is known. */
  caller: unknown
}

/** The replies of one connection that wait for an earlier one. */
class Pipeline {
  readonly #socket: Socket
  readonly #server: Server
  /** Its own pool: while it is full, requests that do not wait for others are served. */
  readonly #pool: WritePool
  readonly #budget: WriteBudget
  readonly #waiting = new Map<ServerResponse, Waiting>()
  /** What the requests take, and what those took that no longer wait. */
  #size = 0
  #done = 0

  constructor(socket: Socket, server: Server) {
    this.#socket = socket
    this.#server = server
    this.#pool = budgetsOf(server.service, server.limits).pipelined
    this.#budget = new WriteBudget({
      pool: this.#pool,
      // Its client may read all that it can; progress is that fewer replies wait.
      outlet: () => ({ _handle: { writeQueueSize: -this.#done } }),
      patienceMs: Number.POSITIVE_INFINITY,
      abort: () => this.#abort(),
    })
    socket.once('close', () => this.#close())
  }

  enter(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.#waiting.size >= this.#server.limits.pipelined || !this.#pool.hasRoom()) return this.#abort()
    const size = OVERHEAD + headBytes(request)
    this.#waiting.set(response, { request: size, reply: 0, caller: undefined })
    this.#resize(size)
    const leave = (): void => this.#leave(response)
    response.once('socket', leave).once('close', leave)
    return true
  }

  /** Counts what was written of a reply since the last time, for its caller. */
  recount(response: ServerResponse, caller: unknown): void {
    const waiting = this.#waiting.get(response)
    const more = response.writableLength - (waiting?.reply ?? 0)
    if (waiting === undefined || more <= 0) return
    if (!this.#pool.hasRoom()) return void this.#abort()
    waiting.caller ??= caller
    waiting.reply += more
    this.#pool.count(waiting.caller, more)
  }

  #resize(bytes: number): void {
    this.#budget.set((this.#size += bytes))
  }

  #leave(response: ServerResponse): void {
    const waiting = this.#waiting.get(response)
    if (waiting === undefined) return
    this.#waiting.delete(response)
    this.#pool.count(waiting.caller, -waiting.reply)
    this.#done += waiting.request + waiting.reply
    this.#resize(-waiting.request)
  }

  #abort(): false {
    if (this.#socket.destroyed) return false
    this.#server.service.observers.count('too_many_pipelined')
    this.#socket.destroy()
    return false
  }

  /** Tells the waiting replies that their connection closed, which Node tells only the one whose turn it is. */
  #close(): void {
    for (const response of this.#waiting.keys()) {
      response.destroy()
      response.emit('close')
    }
  }
}

/** The size of the head of a request. */
export function headBytes({ rawHeaders, url = '' }: IncomingMessage): number {
  let bytes = url.length
  for (const text of rawHeaders) bytes += text.length
  return bytes
}
