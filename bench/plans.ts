import type { Plan } from './measure.ts'

/**
 * The run whose numbers are recorded. According to `--trace-opt`, V8 compiles next to nothing after 8,000 calls over HTTP,
 * 10,000 over lines and 120,000 in process, neither in our server nor in bare Node.
 */
export const FULL: Plan = {
  peers: true,
  rounds: 5,
  seconds: 1,
  warmUp: { wire: 20_000, memory: 200_000 },
  starts: 9,
  sessions: 2000,
  sessionCounts: [10, 1000, 100_000],
  sustained: 30,
  held: { tcp: 45_000, ws: 15_000, sse: 15_000, busy: 3000, nodes: 100_000, seconds: 60 },
  toolCounts: [1, 100, 1000, 10_000],
  typeCounts: [50, 200],
}

/** Everything, briefly: shows that it works, not how fast it is. */
export const QUICK: Plan = {
  peers: true,
  rounds: 3,
  seconds: 0.2,
  warmUp: { wire: 1000, memory: 20_000 },
  starts: 3,
  sessions: 300,
  sessionCounts: [10, 1000],
  sustained: 3,
  held: { tcp: 3000, ws: 1500, sse: 1500, busy: 300, nodes: 1000, seconds: 1 },
  toolCounts: [1, 1000],
  typeCounts: [50],
}

/** Only our server and the limit, warmed up almost as in the full run. */
export const CI: Plan = {
  ...QUICK,
  peers: false,
  seconds: 0.3,
  warmUp: { wire: 10_000, memory: 100_000 },
  starts: 5,
}

/** Long enough for some ten thousand samples of each program. */
export const PROFILE: Plan = { ...FULL, peers: false, rounds: 3, seconds: 1 }
