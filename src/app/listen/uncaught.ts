import type { Service } from '../../rpc/service.ts'
import { throttle } from '../../base/throttle.ts'

const services = new Set<Service>()
const report = throttle((error: unknown, more: number) => {
  const facts = more === 0 ? { error } : { error, more }
  for (const service of services)
    service.report('error', 'uncaught error in user code; the process keeps running', facts)
})

/**
 * Keeps the process alive when user code throws an error that nothing catches: the error is counted, and reported at
 * most once a second. Returns a function that undoes this.
 */
export function reportUncaught(service: Service): () => void {
  if (services.size === 0) {
    process.on('uncaughtException', onError)
    process.on('unhandledRejection', onError)
  }
  services.add(service)
  return () => {
    if (!services.delete(service) || services.size > 0) return
    process.off('uncaughtException', onError)
    process.off('unhandledRejection', onError)
  }
}

function onError(error: unknown): void {
  for (const { observers } of services) observers.count('unhandled')
  report(error)
}
