/* Errors of stores. */

export const STORE_CLOSED = {
  kind: 'store_closed',
  where: 'local',
  code: -32000,
  text: 'this store is closed',
  hint: 'Close the store after the servers that use it, and open another one to go on.',
} as const

export const STORE_FAILED = {
  kind: 'store_failed',
  where: 'local',
  code: -32000,
  text: 'cannot keep data in {path}: {reason}',
  hint: 'Check that the disk works and has room, and that the program may write to the file and its folder.',
} as const

export const STORE_BUSY = {
  kind: 'store_busy',
  where: 'local',
  code: -32000,
  retryable: true,
  text: 'other processes kept {path} locked for {ms} ms',
  hint: 'End the process that holds the lock, such as a shell with an open transaction, or give sqlite a longer busyTimeout.',
} as const

export const SQLITE_UNAVAILABLE = {
  kind: 'sqlite_unavailable',
  where: 'local',
  code: -32000,
  text: 'there is no SQLite here: {reason}',
  hint: 'Run npm install libsql, or use Node 22.13 or newer, which includes SQLite.',
} as const

export const STORE_NOT_SHARED = {
  kind: 'store_not_shared',
  where: 'local',
  code: -32000,
  text: 'another node of "{server}" is running, but {where} keeps in its own memory: {kinds}',
  hint: 'Give every node a store that keeps all kinds, such as store: redis(url), or add those that are missing: store: { ...redis(url), tasks: … }.',
} as const

export const STORE_DIFFERS = {
  kind: 'store_differs',
  where: 'local',
  code: -32000,
  text: 'another node of "{server}" is running, and keeps its {kinds} in another store than this one',
  hint: 'Give all nodes the same stores: compare their settings, such as the URL of the database. To move to another store, stop all nodes first.',
} as const

export const STORE_UNREACHABLE = {
  kind: 'store_unreachable',
  code: -32603,
  http: 503,
  refusal: 'DEPENDENCY_UNAVAILABLE',
  retryable: true,
  text: 'the store of the server cannot be reached now',
  hint: 'Try again later. Operators: check that the store runs, and that this program can reach it.',
} as const

export const REDIS_UNAVAILABLE = {
  kind: 'redis_unavailable',
  where: 'local',
  code: -32000,
  text: 'there is no client for Redis: {reason}',
  hint: 'Run npm install ioredis.',
} as const

export const BULLMQ_UNAVAILABLE = {
  kind: 'bullmq_unavailable',
  where: 'local',
  code: -32000,
  text: 'tasks in Redis need BullMQ: {reason}',
  hint: 'Run npm install bullmq, or keep tasks elsewhere: store: { ...redis(url), tasks: postgres(url).tasks }.',
} as const

export const POSTGRES_UNAVAILABLE = {
  kind: 'postgres_unavailable',
  where: 'local',
  code: -32000,
  text: 'there is no client for PostgreSQL: {reason}',
  hint: 'Run npm install pg.',
} as const
