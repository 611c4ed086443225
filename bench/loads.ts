import type { Transport } from './load/streams.ts'

/** A transport whose latency is measured: its connections, and how many calls are in flight on each while its most is found. */
export interface Way {
  readonly transport: Transport
  readonly title: string
  readonly connections: number
  readonly inFlight: number
}

export const WAYS: readonly Way[] = [
  { transport: 'stdio', title: 'stdio', connections: 1, inFlight: 64 },
  { transport: 'tcp', title: 'TCP', connections: 16, inFlight: 4 },
  { transport: 'ws', title: 'WebSocket', connections: 16, inFlight: 4 },
  { transport: 'http', title: 'HTTP', connections: 32, inFlight: 1 },
]

/** Per cent of the most that our server answers. */
export const LOADS: readonly number[] = [10, 50, 80]

/** The name of what is measured over a transport at a load. */
export function latencyName({ title }: Way, load: number): string {
  return `latency over ${title} at ${load} % load`
}

/** All of them. */
export const LATENCIES: readonly string[] = WAYS.flatMap((way) => LOADS.map((load) => latencyName(way, load)))
