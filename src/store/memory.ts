import type { StoreDriver } from './driver.ts'
import { MemoryTaskStore } from './tasks-memory.ts'

/** Keeps everything in this process, until it ends. Servers use it unless they are given another store. */
export function memory(): StoreDriver {
  const tasks = new MemoryTaskStore()
  return { tasks, close: () => tasks.close() }
}
