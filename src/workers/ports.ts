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
