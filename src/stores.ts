export type { TaskHead, TaskRecord, TaskStatus } from './tasks/record.ts'
export type {
  Created,
  OwnTasks,
  Rejected,
  Soon,
  TaskChange,
  TaskQuery,
  TaskRoom,
  TaskStore,
  TaskSum,
  TaskSums,
} from './tasks/store.ts'
export { hasBytes, rejectionOf, tasksTooLarge } from './tasks/room.ts'
export type { StoreDriver } from './store/driver.ts'
export { memory } from './store/memory.ts'
export { sqlite, type SqliteOptions } from './store/sqlite.ts'
