import type { Service } from '../../rpc/service.ts'
import { throttle } from '../../base/throttle.ts'

interface Listening {
  readonly service: Service
  /** Whether such an error ends the process. */
  readonly exits: boolean
}

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const
const listening = new Set<Listening>()
let hasStarted = false
let isStarting = false
const report = throttle((error: unknown, more: number) => {
  const facts = more === 0 ? { error } : { error, more }
  for (const service of services())
    service.report('error', 'uncaught error in user code; the process keeps running', facts)
})

/**
 * Counts errors that user code throws and nothing catches. The process exits if a listening server wants that or if
 * the program fails to start; otherwise it goes on, and the errors are reported at most once a second. Returns a
 * function that undoes this.
 */
export function watchUncaught(service: Service, exits: boolean): () => void {
  const entry = { service, exits }
  if (!hasStarted) {
    hasStarted = true
    isStarting = true
    setImmediate(() => (isStarting = false))
  }
  listening.add(entry)
  setHandlers()
  return () => {
    listening.delete(entry)
    setHandlers()
  }
}

/** Node exits after an error that has no handler, but calls its monitors first. */
function setHandlers(): void {
  const exits = [...listening].some((entry) => entry.exits)
  process.off('uncaughtExceptionMonitor', count)
  for (const event of EVENTS) process.off(event, onError)
  if (exits) process.on('uncaughtExceptionMonitor', count)
  else if (listening.size > 0) for (const event of EVENTS) process.on(event, onError)
}

/**
 * Node passes the reason 'unhandledRejection' to the listeners of uncaughtException only for an entry module that
 * fails, since every other rejection is an event of its own while that has a listener.
 */
function onError(error: unknown, origin: unknown): void {
  count()
  if ((isStarting || origin === 'unhandledRejection') && isAlone()) exitLikeNode(error)
  else report(error)
}

/** Whether the program leaves uncaught errors to us. */
function isAlone(): boolean {
  return EVENTS.every((event) => process.listenerCount(event) === 1)
}

/** Throws the error again, now that nothing handles it: Node prints it and exits with 1. */
function exitLikeNode(error: unknown): void {
  for (const event of EVENTS) process.off(event, onError)
  queueMicrotask(() => {
    throw error
  })
}

function count(): void {
  for (const { observers } of services()) observers.count('unhandled')
}

function services(): ReadonlySet<Service> {
  return new Set([...listening].map(({ service }) => service))
}
