import { MemoryCacheStore } from './cache-memory.ts'
import { MemoryChangeBus } from './changes-memory.ts'
import type { DriverOf } from './driver.ts'
import { MemoryEventStore } from './events-memory.ts'
import { Lifetime } from './lifetime.ts'
import { MemoryRateStore } from './rates-memory.ts'
import { MemorySessionStore } from './sessions-memory.ts'
import { MemoryTaskStore } from './tasks-memory.ts'

/**
 * Keeps everything in this process, until it ends. Servers use it unless they are given another store; several servers of one process
 * may share one.
 */
export function memory(): DriverOf<'sessions' | 'events' | 'tasks' | 'changes' | 'cache' | 'rates'> {
  const lifetime = new Lifetime()
  const tasks = new MemoryTaskStore()
  return {
    sessions: new MemorySessionStore(lifetime),
    events: new MemoryEventStore(lifetime),
    tasks,
    changes: new MemoryChangeBus(lifetime),
    cache: new MemoryCacheStore(lifetime),
    rates: new MemoryRateStore(lifetime),
    close() {
      lifetime.end()
      tasks.close()
    },
  }
}
