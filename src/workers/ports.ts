import type { Worker } from 'node:cluster'
import type { Port } from './channel.ts'

/** The connection of a parent to one of its workers. */
export function portTo(worker: Worker): Port {
  return {
    send: (message, sent) => void worker.send(message, undefined, undefined, () => sent()),
    receive: (onMessage) => void worker.on('message', onMessage),
  }
}

/** The connection of a worker, or of any child process with IPC, to its parent. */
export function portToParent(): Port {
  return {
    send: (message, sent) => void process.send?.(message, undefined, undefined, () => sent()),
    receive: (onMessage) => void process.on('message', onMessage),
  }
}

/**
 * Calls `listener` when this process cannot read a message of another one: that message is lost, and perhaps all that follow. Node throws
 * such an error where nobody can catch it.
 */
export function onUnreadable(listener: (error: Error) => void): void {
  process.on('uncaughtExceptionMonitor', (error: unknown) => {
    if (error instanceof Error && error.stack?.includes(READER) === true) listener(error)
  })
}

/** The part of Node that reads messages of other processes. */
const READER = 'node:internal/child_process/serialization'
