import { onWorkers } from '../../base/runtime.ts'

/** As much of Node as is needed here. Other runtimes have some of it, but not the statistics. */
interface Runtime {
  readonly Deno?: unknown
  readonly process?: {
    readonly versions?: Readonly<Record<string, string | undefined>>
    getBuiltinModule?(name: string): unknown
  }
}

interface V8 {
  getHeapStatistics(): { readonly used_heap_size: number; readonly heap_size_limit: number }
  getHeapSpaceStatistics(): readonly { readonly space_name: string; readonly space_used_size: number }[]
  setFlagsFromString(flags: string): void
}

interface Entry {
  readonly detail?: { readonly kind?: number }
}

interface PerfHooks {
  readonly constants: { readonly NODE_PERFORMANCE_GC_MAJOR: number }
  readonly PerformanceObserver: new (observe: (list: { getEntries(): readonly Entry[] }) => void) => {
    observe(options: { readonly entryTypes: readonly string[] }): void
    disconnect(): void
  }
}

/** The part of the heap limit that V8 reserves for new objects. */
const YOUNG_BYTES = 50_331_648
/** A collection is forced only after this multiple of the time that the last one took. */
const REST = 10

const { Deno, process } = globalThis as Runtime
const onNode = !onWorkers && Deno === undefined && process?.versions?.['bun'] === undefined
const load = <Module>(name: string): Module | undefined =>
  onNode ? (process?.getBuiltinModule?.(name) as Module | undefined) : undefined

const listeners = new Set<(live: number) => void>()
let observer: { disconnect(): void } | undefined
let collect: (() => void) | undefined
let mayCollectAt = 0

/** Calls a listener after each major garbage collection with the part of the heap that is in use; never on runtimes without statistics. */
export function onMajorGc(listener: (live: number) => void): () => void {
  listeners.add(listener)
  observer ??= observe()
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    observer?.disconnect()
    observer = undefined
  }
}

/** Whether so many bytes fit into a part of the heap, besides what is in use; always on runtimes without statistics. Collects garbage if that may decide. */
export function fitsHeap(bytes: number, part: number): boolean {
  const v8 = load<V8>('node:v8')
  if (v8 === undefined) return true
  const most = part - bytes / bytesFor(v8.getHeapStatistics().heap_size_limit)
  return partOf(v8) <= most || (most > 0 && liveHeap() <= most)
}

/** The part of the heap that is in use, after a collection if the last one is long ago. */
export function liveHeap(): number {
  const v8 = load<V8>('node:v8')
  if (v8 === undefined) return 0
  const begun = performance.now()
  if (begun >= mayCollectAt) {
    collect ??= createCollect(v8)
    collect()
    const ended = performance.now()
    mayCollectAt = ended + REST * (ended - begun)
  }
  return partOf(v8)
}

function observe(): { disconnect(): void } | undefined {
  const v8 = load<V8>('node:v8')
  const hooks = load<PerfHooks>('node:perf_hooks')
  if (v8 === undefined || hooks === undefined) return undefined
  const major = hooks.constants.NODE_PERFORMANCE_GC_MAJOR
  const created = new hooks.PerformanceObserver((list) => {
    if (!list.getEntries().some(({ detail }) => detail?.kind === major)) return
    const live = partOf(v8)
    for (const listener of listeners) listener(live)
  })
  created.observe({ entryTypes: ['gc'] })
  return created
}

/** The part of the heap for old objects that is in use. V8 ends the process when that is full. */
function partOf(v8: V8): number {
  const { used_heap_size: used, heap_size_limit: limit } = v8.getHeapStatistics()
  // Large new objects count: whatever their size, they must fit among the old ones soon.
  const young = v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
  return (used - (young?.space_used_size ?? 0)) / bytesFor(limit)
}

/** The bytes of the heap for old objects. */
function bytesFor(limit: number): number {
  return Math.max(limit - YOUNG_BYTES, limit / 2)
}

/** A function that collects garbage, as `node --expose-gc` has it. */
function createCollect(v8: V8): () => void {
  const vm = load<{ runInNewContext(code: string): unknown }>('node:vm')
  v8.setFlagsFromString('--expose-gc')
  const found = vm?.runInNewContext('gc')
  v8.setFlagsFromString('--no-expose-gc')
  return typeof found === 'function' ? (found as () => void) : () => undefined
}
