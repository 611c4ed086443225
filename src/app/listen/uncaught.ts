import type { Service } from '../../rpc/service.ts'
import { throttle } from '../../base/throttle.ts'

const services = new Set<Service>()
const tell = throttle((error: unknown, more: number) => {
  const facts = more === 0 ? { error } : { error, more }
  for (const service of services)
    service.report('error', 'user code let an error escape; the process goes on', facts)
})

/**
 * Keeps the process alive when an error escapes from user code that nobody waits for: it is counted, and reported at most
 * once a second. What this returns ends it.
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
  tell(error)
}
