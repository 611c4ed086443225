import type { ConnectOptions } from '../../src/client.ts'

/** A transport and a revision over which clients log in: a name, the address of the server, and the options of a client. */
export type Way = readonly [string, 'http' | 'ws', ConnectOptions]

export const WAYS: readonly Way[] = [
  ['HTTP', 'http', {}],
  ['HTTP at 2025-06-18', 'http', { revision: '2025-06-18' }],
  ['HTTP+SSE', 'http', { revision: '2024-11-05' }],
  ['WebSocket', 'ws', {}],
  ['WebSocket at 2025-06-18', 'ws', { revision: '2025-06-18' }],
]
