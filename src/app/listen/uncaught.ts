import type { Service } from '../../rpc/service.ts'
import { throttle } from '../../base/throttle.ts'

interface Listening {
  readonly service: Service
  /** Whether such an error ends the process. */
  readonly exits: boolean
}

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const
const listening = new Set<Listening>()
const report = throttle((error: unknown, more: number) => {
  const facts = more === 0 ? { error } : { error, more }
  for (const service of services())
    service.report('error', 'uncaught error in user code; the process keeps running', facts)
})

/**
 * Counts errors that user code throws and nothing catches. The process exits if a listening server wants that;
 * otherwise it goes on, and the errors are reported at most once a second. Returns a function that undoes this.
 */
export function watchUncaught(service: Service, exits: boolean): () => void {
  const entry = { service, exits }
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

function onError(error: unknown): void {
  count()
  report(error)
}

function count(): void {
  for (const { observers } of services()) observers.count('unhandled')
}

function services(): ReadonlySet<Service> {
  return new Set([...listening].map(({ service }) => service))
}
