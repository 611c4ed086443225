// When processes and stores were away in a chaos test, and what that explains. It shares no code with the server.
import type { AddFault } from './chaos-checker.ts'
import type { ChaosLine, FaultLine, TargetLine, TimedLine } from './chaos-log.ts'

/** A time in which a process or a store was away. */
interface Incident {
  readonly kind: FaultLine['kind'] | 'stood'
  readonly target: string
  readonly from: number
  /** When it was back; infinite if it never was. */
  to: number
  /** How many calls each client lost with it. */
  readonly lost: Map<number, number>
}

/** A call that ended without a result. */
export interface LostCall {
  readonly client: number
  /** The nodes that it may have reached, which are known. */
  readonly nodes: ReadonlySet<string>
  readonly began: number
  readonly ended: number
}

/** How many calls a client may lose with a process that dies: it has one at a time. One that stands still may also get the next one. */
const LOST_MOST = { dead: 1, still: 2 }
/** What stood still notices that late, and others then end its calls. */
const NOTICED_MS = 15_000
/** How long after its return a store may still be missing for a node, which connects again. */
const RECONNECTED_MS = 30_000

/** Follows what was done to processes and stores. */
export class Incidents {
  readonly #all: Incident[] = []
  readonly #add: AddFault
  /** The processes that run, and whose clocks are shifted. */
  readonly #running = new Map<string, { readonly pid: number; readonly isShifted: boolean }>()
  #validKills = 0
  #nodeKills = 0
  #workerKills = 0

  constructor(add: AddFault) {
    this.#add = add
  }

  /** The kills of processes that ran; those of nodes with the right time, and those of workers. */
  get kills(): { readonly all: number; readonly nodes: number; readonly workers: number } {
    return { all: this.#validKills, nodes: this.#nodeKills, workers: this.#workerKills }
  }

  /** How often something of a kind was away, and came back. */
  count(kind: FaultLine['kind']): number {
    return this.#all.filter((one) => one.kind === kind && one.to < Infinity).length
  }

  /** Takes a line into account. Answers whether it was the kill of a process that ran. */
  see(line: (FaultLine | TargetLine) & TimedLine): boolean {
    const { target, at } = line
    if (line.event === 'fault') return this.#fault(line)
    if (line.event === 'stood')
      this.#all.push({ kind: 'stood', target, from: at - line.ms, to: at, lost: new Map() })
    else if (line.event === 'back') {
      for (const one of this.#all) if (one.target === target && one.to === Infinity) one.to = at
    } else if (line.event === 'exited') this.#running.delete(target)
    else this.#running.set(target, { pid: line.pid, isShifted: line.shiftMs !== 0 })
    return false
  }

  #fault({ kind, target, pid, at }: FaultLine & TimedLine): boolean {
    if (kind === 'kill') {
      const process = this.#running.get(target)
      if (process === undefined || process.pid !== pid) {
        this.#add('false kill', `${target} (${pid}) did not run`)
        return false
      }
      this.#running.delete(target)
      this.#validKills++
      if (target.startsWith('worker')) this.#workerKills++
      else if (!process.isShifted) this.#nodeKills++
    }
    this.#all.push({ kind, target, from: at, to: Infinity, lost: new Map() })
    return kind === 'kill'
  }

  /** Whether a call may have been lost with its node: that died under it, or stood still so long that others took it for dead. */
  explainsLostNode({ client, nodes, began, ended }: LostCall): boolean {
    const reason = this.#all.find(({ kind, target, from, to, lost }) => {
      if (!nodes.has(target) || from > ended) return false
      const count = lost.get(client) ?? 0
      if (kind === 'kill') return from >= began && count < LOST_MOST.dead
      return to + NOTICED_MS >= began && count < LOST_MOST.still
    })
    reason?.lost.set(client, (reason.lost.get(client) ?? 0) + 1)
    return reason !== undefined
  }

  /** Whether Redis, where sessions are, was away during a call. */
  explainsLostStore({ began, ended }: LostCall): boolean {
    return this.#all.some(
      ({ kind, from, to }) => kind === 'redis' && from <= ended && to + RECONNECTED_MS >= began,
    )
  }

  /** Whether a client may have got nothing at all: its node died or stood still meanwhile, or Redis was away. A client that reached no node knows none. */
  explainsSilence(call: LostCall): boolean {
    const { nodes, began, ended } = call
    const isLost = this.#all.some(
      ({ kind, target, from, to }) =>
        kind !== 'redis' &&
        kind !== 'postgres' &&
        (nodes.size === 0 ? target.startsWith('node') : nodes.has(target)) &&
        from <= ended &&
        to + NOTICED_MS >= began,
    )
    return isLost || this.explainsLostStore(call)
  }
}

/** Whether a line says what happened to a process or a store. */
export function isAboutTarget(line: ChaosLine & TimedLine): line is (FaultLine | TargetLine) & TimedLine {
  return 'target' in line
}
