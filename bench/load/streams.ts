import { randomBytes } from 'node:crypto'
import { type Extent, failOnStall, startRound } from '../extent.ts'
import { Histogram } from '../histogram.ts'
import type { Sent } from '../messages.ts'
import { usageOf } from '../usage.ts'
import { SERIES, Series } from './exchange.ts'
import { FRAMES, LINES, posts } from './framing.ts'
import { openSession } from './http.ts'
import { type Child, Connection, openSessionOver, openPipes, openSocket } from './connection.ts'
import { endChild } from './stdio.ts'

/** The transport of the messages. */
export type Transport = 'stdio' | 'tcp' | 'ws' | 'http'

/** A server and the connections to it. */
export interface StreamTarget {
  readonly transport: Transport
  readonly sent: Sent
  readonly connections: number
  /** The port it listens on; unused for stdio, where the server is started here. */
  readonly port: number
  readonly pid: number
  readonly file: string
  readonly options: string
}

/** One round: the number of answers, their latencies in microseconds, and the CPU time of the server. */
export interface StreamRound {
  readonly count: number
  readonly seconds: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly p999: number
  readonly serverCpuMs: number
}

/** The distance in the series between the first requests of two connections. */
const STEP = 61
/** The maximum number of requests in flight on a connection; HTTP allows only one. */
const MAX_IN_FLIGHT = 256

/** All connections to one server, over any transport. */
export class Streams {
  readonly #connections: readonly Connection[]
  readonly #maxInFlight: number
  readonly #pid: number
  readonly #child: Child | undefined

  private constructor(connections: readonly Connection[], target: StreamTarget, child?: Child) {
    this.#connections = connections
    this.#maxInFlight = target.transport === 'http' ? 1 : MAX_IN_FLIGHT
    this.#pid = child?.pid ?? target.pid
    this.#child = child
  }

  /** Opens as many connections as the target says, each with its own session. */
  static async open(target: StreamTarget): Promise<Streams> {
    const { transport, sent, port } = target
    if (transport === 'stdio') {
      const { child, ...ends } = openPipes(target.file, target.options)
      await openSessionOver(ends, LINES)
      const connection = new Connection(ends.wire, ends.handlers, {
        series: new Series(sent, LINES),
        framing: LINES,
        first: 0,
      })
      return new Streams([connection], target, child)
    }
    const framing = transport === 'tcp' ? LINES : transport === 'ws' ? FRAMES : undefined
    const shared = framing && new Series(sent, framing)
    const connections: Connection[] = []
    for (let number = 0; number < target.connections; number++) {
      const own = framing ?? posts(port, (await openSession(port)).id)
      const ends = await openSocket(port, transport === 'ws' ? upgradeText(port) : undefined)
      if (framing) await openSessionOver(ends, framing)
      const options = { series: shared ?? new Series(sent, own), framing: own, first: number * STEP }
      connections.push(new Connection(ends.wire, ends.handlers, options))
    }
    return new Streams(connections, target)
  }

  /** Keeps `inFlight` requests in flight on each connection; throws at the first wrong answer. */
  flood(inFlight: number, extent: Extent): Promise<StreamRound> {
    return this.#measure((round, done) => {
      const isOver = startRound(extent)
      let openLinks = this.#connections.length
      for (const connection of this.#connections) {
        connection.onAnswers = (count) => {
          round.count += count
          if (!isOver(round.count)) return void connection.send(count)
          if (connection.open === 0 && --openLinks === 0) done()
        }
        connection.send(inFlight)
      }
    })
  }

  /**
   * Sends at a fixed rate, regardless of the answers; latency counts from the scheduled send time. Requests that are due
   * together are sent together, spread over the connections.
   */
  pace(rate: number, extent: Extent): Promise<StreamRound> {
    return this.#measure((round, done) => {
      const total = 'calls' in extent ? extent.calls : Math.floor(rate * extent.seconds)
      const start = performance.now()
      const dueAt = (number: number): number => start + (number * 1000) / rate
      const times = this.#connections.map(() => new Float64Array(SERIES))
      for (const [number, connection] of this.#connections.entries())
        connection.onAnswer = (index) => {
          round.latencies.add(performance.now() - times[number]![index]!)
          round.count++
        }
      let next = 0
      let turnOf = 0
      const sendDue = (): void => {
        const due = Math.min(total, Math.floor(((performance.now() - start) * rate) / 1000) + 1) - next
        const share = Math.ceil(due / this.#connections.length)
        for (let tried = 0, left = due; left > 0 && tried < this.#connections.length; tried++) {
          const number = turnOf++ % this.#connections.length
          const connection = this.#connections[number]!
          const count = Math.min(share, left, this.#maxInFlight - connection.open)
          if (count <= 0) continue
          const first = connection.send(count)
          for (let sent = 0; sent < count; sent++) times[number]![(first + sent) % SERIES] = dueAt(next++)
          left -= count
        }
      }
      const turn = (): void => {
        if (round.over) return
        if (next < total) sendDue()
        if (round.count === total) done()
        else setImmediate(turn)
      }
      turn()
    })
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.close()
    if (this.#child) await endChild(this.#child)
  }

  async #measure(work: (round: Round, done: () => void) => void): Promise<StreamRound> {
    const round: Round = { latencies: new Histogram(), count: 0, over: false }
    const cpuBefore = usageOf(this.#pid).cpuMs
    const start = performance.now()
    const answered = new Promise<void>((done, fail) => {
      for (const connection of this.#connections) {
        if (connection.failed) return fail(connection.failed)
        connection.onFail = fail
      }
      work(round, done)
    })
    try {
      await failOnStall(answered, () => round.count)
    } finally {
      round.over = true
      for (const connection of this.#connections) {
        connection.onAnswer = () => {}
        connection.onAnswers = () => {}
      }
    }
    const { latencies, count } = round
    return {
      count,
      seconds: (performance.now() - start) / 1000,
      p50: latencies.percentile(0.5),
      p95: latencies.percentile(0.95),
      p99: latencies.percentile(0.99),
      p999: latencies.percentile(0.999),
      serverCpuMs: usageOf(this.#pid).cpuMs - cpuBefore,
    }
  }
}

interface Round {
  readonly latencies: Histogram
  count: number
  over: boolean
}

/** The HTTP request that upgrades a connection to WebSocket. */
export function upgradeText(port: number): string {
  const lines = [
    'GET /mcp HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Protocol: mcp',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}
