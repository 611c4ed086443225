import type { Revision } from '../protocol/revisions.ts'
import type { RunningClient, StartableClient } from './client/program.ts'
import type { Scenario } from './client/scenario.ts'
import { serve } from './client/serve.ts'
import { USUAL } from './client/usual-scenario.ts'
import { Visit } from './client/visit.ts'
import { Memory, MOST_VISITS_BYTES } from './memory.ts'
import type { Transport } from './rule.ts'

export interface ClientSubjectOptions {
  readonly client: StartableClient
  readonly revision: Revision
  readonly transport: Transport
  readonly signal: AbortSignal
  /** How long a visit may take. */
  readonly visitMs?: number | undefined
  /** How long a client may say nothing before it is ended. */
  readonly quietMs?: number | undefined
  /** How long to wait for the answer to a request of our server. */
  readonly askMs?: number | undefined
  /** How many visits there may be at a time. */
  readonly atOnce?: number | undefined
  /** Is called when a visit begins. */
  onVisit?(scenario: Scenario): void
}

/** How long a client may take until it sends something. */
const START_MS = 8_000

/** How long a connection may take to deliver what was sent before the client ended. */
const SETTLE_MS = 20
const MOST_LOOKS = 25

/** Why a visit shows nothing. */
const NO_ROOM = `the client sent more than ${MOST_VISITS_BYTES / 1_000_000} MB in all, as texts and values`

/** A client at one revision on one transport, as the checks see it. */
export class ClientSubject {
  readonly revision: Revision
  readonly transport: Transport
  readonly #options: ClientSubjectOptions
  readonly #visits = new Map<string, Promise<Visit>>()
  readonly #done: Visit[] = []
  readonly #waiting: (() => void)[] = []
  readonly #memory = new Memory(MOST_VISITS_BYTES)
  #free: number

  constructor(options: ClientSubjectOptions) {
    this.revision = options.revision
    this.transport = options.transport
    this.#options = options
    this.#free = options.atOnce ?? 3
  }

  get isModern(): boolean {
    return this.revision === '2026-07-28'
  }

  /** What the client does with the usual server. */
  usual(): Promise<Visit> {
    return this.visit(USUAL)
  }

  /** What the client does with the server of a scenario; it is started once for each. */
  visit(scenario: Scenario): Promise<Visit> {
    const known = this.#visits.get(scenario.name)
    if (known !== undefined) return known
    const visit = this.#inTurn(() => this.#play(scenario))
    this.#visits.set(scenario.name, visit)
    return visit
  }

  /** Every visit so far, for rules about all messages. */
  async visits(): Promise<readonly Visit[]> {
    await this.usual()
    return this.#done
  }

  /** Waits until all clients that were started have ended. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#visits.values())
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }

  async #play(scenario: Scenario): Promise<Visit> {
    const { client, revision, transport, signal, askMs = 1_500 } = this.#options
    if (signal.aborted) throw new Error('the run was stopped')
    if (this.#memory.isFull) throw new Error(NO_ROOM)
    this.#options.onVisit?.(scenario)
    const visit = new Visit({ scenario: scenario.name, revision, transport, askMs, memory: this.#memory })
    const served = await serve(visit, scenario.begin())
    try {
      const running = await client.start(served.address, variablesOf(scenario, revision))
      await this.#watch(running, visit)
      await running.stop()
      await settled(visit)
    } finally {
      await served.close()
    }
    if (visit.lacksRoom) throw new Error(NO_ROOM)
    if (scenario.isApart !== true) this.#done.push(visit)
    return visit
  }

  /** Waits until the client has ended, or has been quiet for long. */
  async #watch({ ended }: RunningClient, visit: Visit): Promise<void> {
    const { signal, visitMs = 10_000, quietMs = 2_500 } = this.#options
    let timer: ReturnType<typeof setInterval> | undefined
    let stop: (() => void) | undefined
    const stopped = new Promise<string>((resolve) => {
      timer = setInterval(() => {
        const most = visit.seen.length === 0 ? START_MS : quietMs
        if (visit.ms > visitMs) resolve(`it did not end within ${visitMs / 1000} s`)
        else if (visit.ms - visit.lastMs > most)
          resolve(`it sent nothing for ${most / 1000} s, and did not end`)
      }, 50)
      stop = () => resolve('the run was stopped')
      signal.addEventListener('abort', stop)
      void visit.full.then(() => resolve('it sent too much'))
    })
    const [how, hasLeft] = await Promise.race([
      ended.then((text): readonly [string, boolean] => [text, true]),
      stopped.then((text): readonly [string, boolean] => [text, false]),
    ])
    visit.ending = how
    visit.hasLeft = hasLeft
    clearInterval(timer)
    if (stop !== undefined) signal.removeEventListener('abort', stop)
  }
}

/** Waits for what is still on its way from a client that has ended, and for the end of its connections. */
async function settled(visit: Visit): Promise<void> {
  let last = -1
  for (let looks = 0; looks < MOST_LOOKS && (last !== visit.lastMs || visit.openCount > 0); looks++) {
    last = visit.lastMs
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  }
}

/** What a client may want to know about a visit. The official suite has the first two names. */
function variablesOf({ name, official }: Scenario, revision: Revision): Readonly<{ [name: string]: string }> {
  return {
    MCP_CONFORMANCE_SCENARIO: official ?? 'tools_call',
    MCP_CONFORMANCE_PROTOCOL_VERSION: revision,
    PIERHEAD_VALIDATE_SCENARIO: name,
    PIERHEAD_VALIDATE_REVISION: revision,
  }
}
