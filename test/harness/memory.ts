import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Collects what nothing refers to, so that only memory that is held is measured. */
export const collect: () => void = runInNewContext('gc') as () => void

/** The bytes of buffers that this process holds. */
export function heldBuffers(): number {
  collect()
  return process.memoryUsage().arrayBuffers
}

/** The bytes of objects that this process holds. */
export function heldHeap(): number {
  collect()
  return process.memoryUsage().heapUsed
}
