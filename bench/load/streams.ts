import { randomBytes } from 'node:crypto'
import { Histogram } from '../histogram.ts'
import type { Sent } from '../messages.ts'
import { usageOf } from '../usage.ts'
import { SERIES, Series } from './exchange.ts'
import { FRAMES, LINES, posts } from './framing.ts'
import { openSession } from './http.ts'
import { type Child, Link, greet, openPipes, openSocket } from './link.ts'
import { endChild } from './stdio.ts'

/** What carries the messages. */
export type Transport = 'stdio' | 'tcp' | 'ws' | 'http'

/** A server and the connections to it. */
export interface StreamTarget {
  readonly transport: Transport
  readonly sent: Sent
  readonly connections: number
  /** Where it listens; a server over stdio is started here. */
  readonly port: number
  readonly pid: number
  readonly file: string
  readonly options: string
}

/** One round: what was answered, how long that took, in microseconds, and what the server used for it. */
export interface StreamRound {
  readonly count: number
  readonly seconds: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly p999: number
  readonly serverCpuMs: number
}

const GRACE_MS = 20_000
/** A position in the series that differs from connection to connection. */
const STEP = 61
/** Requests that one connection takes before the next must wait: HTTP answers one at a time. */
const ROOM = 256

/** All connections to one server, over any transport. */
export class Streams {
  readonly #links: readonly Link[]
  readonly #room: number
  readonly #pid: number
  readonly #child: Child | undefined

  private constructor(links: readonly Link[], target: StreamTarget, child?: Child) {
    this.#links = links
    this.#room = target.transport === 'http' ? 1 : ROOM
    this.#pid = child?.pid ?? target.pid
    this.#child = child
  }

  /** Opens as many connections as the target says, each with its own session. */
  static async open(target: StreamTarget): Promise<Streams> {
    const { transport, sent, port } = target
    if (transport === 'stdio') {
      const { child, ...ends } = openPipes(target.file, target.options)
      await greet(ends, LINES)
      const link = new Link(ends.wire, ends.ears, {
        series: new Series(sent, LINES),
        framing: LINES,
        first: 0,
      })
      return new Streams([link], target, child)
    }
    const framing = transport === 'tcp' ? LINES : transport === 'ws' ? FRAMES : undefined
    const shared = framing && new Series(sent, framing)
    const links: Link[] = []
    for (let number = 0; number < target.connections; number++) {
      const own = framing ?? posts(port, (await openSession(port)).id)
      const ends = await openSocket(port, transport === 'ws' ? upgradeText(port) : undefined)
      if (framing) await greet(ends, framing)
      const options = { series: shared ?? new Series(sent, own), framing: own, first: number * STEP }
      links.push(new Link(ends.wire, ends.ears, options))
    }
    return new Streams(links, target)
  }

  /** Keeps so many requests in flight on each connection for a while; throws at the first wrong answer. */
  flood(inFlight: number, seconds: number): Promise<StreamRound> {
    return this.#measure(seconds, (round, done) => {
      let openLinks = this.#links.length
      for (const link of this.#links) {
        link.onAnswers = (count) => {
          round.count += count
          if (performance.now() < round.until) return void link.send(count)
          if (link.open === 0 && --openLinks === 0) done()
        }
        link.send(inFlight)
      }
    })
  }

  /**
   * Sends at a fixed rate, whatever is answered; the time of a request counts from when it was to be sent. What is due at
   * once leaves at once, spread over the connections.
   */
  pace(rate: number, seconds: number): Promise<StreamRound> {
    return this.#measure(seconds, (round, done) => {
      const total = Math.floor(rate * seconds)
      const start = performance.now()
      const dueAt = (number: number): number => start + (number * 1000) / rate
      const times = this.#links.map(() => new Float64Array(SERIES))
      for (const [number, link] of this.#links.entries())
        link.onAnswer = (index) => {
          round.latencies.add(performance.now() - times[number]![index]!)
          round.count++
        }
      let next = 0
      let turnOf = 0
      const sendDue = (): void => {
        const due = Math.min(total, Math.floor(((performance.now() - start) * rate) / 1000) + 1) - next
        const share = Math.ceil(due / this.#links.length)
        for (let tried = 0, left = due; left > 0 && tried < this.#links.length; tried++) {
          const number = turnOf++ % this.#links.length
          const link = this.#links[number]!
          const count = Math.min(share, left, this.#room - link.open)
          if (count <= 0) continue
          const first = link.send(count)
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
    for (const link of this.#links) link.close()
    if (this.#child) await endChild(this.#child)
  }

  async #measure(seconds: number, work: (round: Round, done: () => void) => void): Promise<StreamRound> {
    const round: Round = { latencies: new Histogram(), count: 0, until: 0, over: false }
    const cpuBefore = usageOf(this.#pid).cpuMs
    const start = performance.now()
    round.until = start + seconds * 1000
    let timer: NodeJS.Timeout | undefined
    try {
      await new Promise<void>((done, fail) => {
        timer = setTimeout(() => fail(new Error('an answer did not come in time')), seconds * 1000 + GRACE_MS)
        for (const link of this.#links) link.onFail = fail
        work(round, done)
      })
    } finally {
      round.over = true
      clearTimeout(timer)
      for (const link of this.#links) {
        link.onAnswer = () => {}
        link.onAnswers = () => {}
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
  until: number
  over: boolean
}

/** What asks a server to speak WebSocket from now on. */
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
