export type { TaskHead, TaskRecord, TaskStatus } from './tasks/record.ts'
export type {
  Created,
  OwnTasks,
  Rejected,
  Soon,
  TaskChange,
  TaskExcerpt,
  TaskQuery,
  TaskRoom,
  TaskStore,
  TaskSum,
  TaskSums,
  TaskText,
} from './tasks/store.ts'
export { hasBytes, rejectionOf, tasksTooLarge } from './tasks/room.ts'
export type { CacheStore } from './rpc/cache-store.ts'
export type { BusMessage, ChangeBus } from './rpc/change-bus.ts'
export type { EventHead, EventPage, EventRoom, EventStore, NewEvent, StoredEvent } from './rpc/event-store.ts'
export type { JoinedNode, NodeInfo, NodeStore } from './rpc/node-store.ts'
export type { RateStore, RateUse } from './rpc/rate-store.ts'
export type {
  EvictedSession,
  NewSession,
  FieldChanges,
  SessionFields,
  SessionRoom,
  SessionStore,
  StoredSession,
} from './rpc/session-store.ts'
export type { DriverOf, StoreDriver, StoreKind } from './store/driver.ts'
export { memory } from './store/memory.ts'
export { postgres, type PostgresOptions, type PostgresPool } from './store/postgres.ts'
export { redis, type RedisClient, type RedisOptions } from './store/redis.ts'
export { sqlite, type SqliteOptions } from './store/sqlite.ts'
