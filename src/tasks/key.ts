import type { TaskHead } from './record.ts'

/** The key of a task that ended without a result: free for other tasks, since it contains the id, but not forgotten. */
export function freedKey({ id, key }: TaskHead): string {
  return key === '' ? '' : `${freed(id)}${key}`
}

/** A copy of a task with the key that its caller gave it, free again or not. */
export function withOwnKey<Head extends TaskHead>(head: Head): Head {
  const mark = freed(head.id)
  return { ...head, key: head.key.startsWith(mark) ? head.key.slice(mark.length) : head.key }
}

/** The key of a retry, by which a second one finds the first. */
export function retryKey(id: string): string {
  return `retry of ${id}`
}

/** Whether a key has a form that only the server gives. */
export function isReserved(key: string): boolean {
  return /^(retry of|freed by) /.test(key)
}

function freed(id: string): string {
  return `freed by ${id}: `
}
