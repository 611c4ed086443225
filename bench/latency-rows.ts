import type { Transport } from './load/streams.ts'

/** How the latency of a transport is measured; `inFlight` calls per connection find its maximum rate. */
export interface LatencySetup {
  readonly transport: Transport
  readonly title: string
  readonly connections: number
  readonly inFlight: number
}

export const LATENCY_SETUPS: readonly LatencySetup[] = [
  { transport: 'stdio', title: 'stdio', connections: 1, inFlight: 64 },
  { transport: 'tcp', title: 'TCP', connections: 16, inFlight: 4 },
  { transport: 'ws', title: 'WebSocket', connections: 16, inFlight: 4 },
  { transport: 'http', title: 'HTTP', connections: 32, inFlight: 1 },
]

/** Percent of the maximum rate of our server. */
export const LOADS: readonly number[] = [10, 50, 80]

/** The row name for a transport at a load. */
export function latencyName({ title }: LatencySetup, load: number): string {
  return `latency over ${title} at ${load} % load`
}

/** All row names. */
export const LATENCIES: readonly string[] = LATENCY_SETUPS.flatMap((setup) =>
  LOADS.map((load) => latencyName(setup, load)),
)
