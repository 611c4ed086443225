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

/** A socket that Node hands to a worker. */
interface Handle {
  close(): void
}

/** The messages between Node's own code in the parent and in a worker, of which these members matter. */
interface NodeMessage {
  readonly cmd?: unknown
  readonly act?: unknown
  readonly seq?: unknown
  readonly ack?: unknown
}

/**
 * Closes the connections that were on their way to a worker when it ended. Node closes its own end of a connection once the worker says that
 * it has it, and otherwise never: the client would wait for ever. Another worker cannot have it, since some of it may have been read.
 */
export function closeUnaccepted(worker: Worker): void {
  const sent = new Map<unknown, Handle>()
  const child = worker.process
  const send = child.send.bind(child) as (...args: readonly unknown[]) => boolean
  child.send = (...args: readonly unknown[]): boolean => {
    const [message, handle] = args as readonly [NodeMessage | null | undefined, Handle | undefined]
    const isConnection = message?.cmd === 'NODE_CLUSTER' && message.act === 'newconn'
    if (isConnection && typeof handle?.close === 'function') sent.set(message.seq, handle)
    return send(...args)
  }
  const onInternal = (message: NodeMessage | null | undefined): void => void sent.delete(message?.ack)
  ;(child as NodeJS.EventEmitter).on('internalMessage', onInternal)
  const closeAll = (): void => {
    for (const handle of sent.values()) handle.close()
    sent.clear()
  }
  // Node does not say `disconnect` then. After a whole turn of the event loop, what the worker has said last is read.
  child.once('exit', () => setImmediate(() => setImmediate(closeAll)))
}
