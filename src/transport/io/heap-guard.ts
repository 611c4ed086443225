import { HEAP_FULL } from '../../errors/limits.ts'
import { type McpError, mcpError } from '../../errors/error.ts'
import { LATER } from '../../errors/retry-after.ts'
import type { Limits } from '../../protocol/limits.ts'
import type { Load } from '../../rpc/load.ts'
import type { Service } from '../../rpc/service.ts'
import { fitsHeap, liveHeap, onMajorGc } from './heap.ts'
import { everyMs, type Timer } from './timer.ts'

/** Gives up something that takes memory, and returns how many connections or sessions that were. */
export type Shed = () => number

type Guarded = Pick<Service, 'load' | 'observers' | 'report'>

const CHECK_MS = 1000
/** After this many checks without anything to give up, clients are not what takes the memory. */
const FUTILE = 3

/** Smaller messages are not worth the question whether there is room for them. */
const SMALL_BYTES = 65_536
/** The memory that a message may take for each byte while it is parsed: its text and its values have up to two bytes per character. */
const DECODED = 4
/** What its values take of that. */
const PARSED = 2

const guards = new WeakMap<Load, HeapGuard>()

/** Guards the heap of this process as long as a transport is open. Returns a function that ends it. */
export function guardHeap(service: Guarded, { heap }: Pick<Limits, 'heap'>, shed: Shed): () => void {
  if (heap >= 1) return () => undefined
  let guard = guards.get(service.load)
  if (guard === undefined) guards.set(service.load, (guard = new HeapGuard(service, heap)))
  return guard.add(shed)
}

/** Throws while a server must not take on more, because the heap is nearly full. */
export function checkHeap({ load }: Pick<Service, 'load'>): void {
  if (load.isShort) throw mcpError(HEAP_FULL, {}, LATER)
}

/** The error for a message of so many bytes if the heap may have no room to decode and parse it; undefined if there is room. */
export function decodeProblem(
  service: Pick<Service, 'load'>,
  limits: Pick<Limits, 'heap'>,
  bytes: number,
): McpError | undefined {
  return bytes <= SMALL_BYTES ? undefined : roomProblem(service, limits, bytes * DECODED)
}

/** The error for a text if the heap may have no room for its values: others may have taken it since the text was decoded. */
export function parseProblem(
  service: Pick<Service, 'load'>,
  limits: Pick<Limits, 'heap'>,
  { length }: string,
): McpError | undefined {
  return length <= SMALL_BYTES ? undefined : roomProblem(service, limits, length * PARSED)
}

function roomProblem(
  { load }: Pick<Service, 'load'>,
  { heap }: Pick<Limits, 'heap'>,
  bytes: number,
): McpError | undefined {
  const part = guards.get(load)?.limit ?? heap
  return heap >= 1 || fitsHeap(bytes, part) ? undefined : mcpError(HEAP_FULL, {}, LATER)
}

/**
 * Sheds load while live objects take more than a part of the heap, whatever they are: a second line of defence behind limits
 * that count. It looks after major collections only, because before them nobody knows how much is garbage.
 */
class HeapGuard {
  readonly #service: Guarded
  /** The part of the heap that live objects may take. */
  limit: number
  readonly #sheds = new Set<Shed>()
  #unwatch: (() => void) | undefined
  #timer: Timer
  #futile = 0

  constructor(service: Guarded, limit: number) {
    this.#service = service
    this.limit = limit
  }

  add(shed: Shed): () => void {
    this.#sheds.add(shed)
    this.#unwatch ??= onMajorGc((live) => this.#judge(live))
    return () => {
      this.#sheds.delete(shed)
      if (this.#sheds.size > 0) return
      this.#unwatch?.()
      this.#unwatch = undefined
      this.#end()
    }
  }

  #judge(live: number): void {
    if (live <= this.limit) return this.#end()
    if (!this.#service.load.isShort) this.#begin(live)
    else if (live > (this.limit + 1) / 2) this.#shed()
  }

  #begin(live: number): void {
    this.#service.load.isShort = true
    this.#futile = 0
    this.#service.observers.count('heap_full')
    const percent = Math.round(live * 100)
    const hint =
      'find out what handlers keep, give Node more with --max-old-space-size, or change limits.heap'
    this.#service.report('warning', `the heap is nearly full, so requests are rejected; ${hint}`, { percent })
    this.#timer = everyMs(CHECK_MS, () => this.#check())
    this.#shed()
  }

  #end(): void {
    this.#service.load.isShort = false
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Looks again. A server that rejects everything makes too little garbage to be collected by itself. */
  #check(): void {
    const live = liveHeap()
    this.#judge(live)
    if (!this.#service.load.isShort) return
    this.#shed()
    if (this.#futile < FUTILE) return
    // Rejecting requests would not help, and the program may well need so much.
    this.limit = (live + 1) / 2
    const text =
      'the heap stays nearly full without clients; give Node more with --max-old-space-size, or raise limits.heap'
    this.#service.report('error', text, { percent: Math.round(live * 100) })
    this.#end()
  }

  #shed(): void {
    let given = 0
    for (const shed of this.#sheds) given += shed()
    this.#futile = given > 0 || this.#service.load.running > 0 ? 0 : this.#futile + 1
  }
}
