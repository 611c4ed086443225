import process from 'node:process'

/** Something that must not outlive this process. */
export interface Killable {
  /** Kills it at once, without waiting. */
  killNow(): void
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type Signal = (typeof SIGNALS)[number]

const living = new Set<Killable>()

/** Kills it when this process exits, by itself or by a signal. Listens only while there is something to kill. */
export function killOnExit(killable: Killable): void {
  if (living.size === 0) {
    process.on('exit', killAll)
    if ('Deno' in globalThis) {
      addEventListener('error', onError)
      process.on('uncaughtExceptionMonitor', onRejection)
    }
    for (const signal of SIGNALS) process.on(signal, onSignal)
  }
  living.add(killable)
}

/** Forgets something that has ended. */
export function releaseKillable(killable: Killable): void {
  if (living.delete(killable) && living.size === 0) stopListening()
}

function stopListening(): void {
  process.off('exit', killAll)
  process.off('uncaughtExceptionMonitor', onRejection)
  globalThis.removeEventListener?.('error', onError)
  for (const signal of SIGNALS) process.off(signal, onSignal)
}

function killAll(): void {
  for (const killable of living) killable.killNow()
}

/** Deno has no `exit` event when an uncaught error ends the process. Only earlier listeners can have prevented that. */
function onError({ defaultPrevented }: Event): void {
  if (!defaultPrevented && process.listenerCount('uncaughtException') === 0) killAll()
}

/** The same for rejections, which Deno reports here only if no listener prevented the end of the process. */
function onRejection(_: unknown, origin: string): void {
  if (origin === 'unhandledRejection' && process.listenerCount('uncaughtException') === 0) killAll()
}

/** Ends this process on a signal that nothing else handles, as would have happened without our listener. */
function onSignal(signal: Signal): void {
  if (process.listenerCount(signal) > 1 + passiveListeners()) return
  killAll()
  living.clear()
  stopListening()
  process.kill(process.pid, signal)
}

/**
 * Counts listeners that, like ours, act only if no others exist. The widely used package signal-exit keeps its count in
 * these places; without them each would wait for the other, and the signal would be ignored.
 */
function passiveListeners(): number {
  const places: readonly unknown[] = [
    (process as unknown as Record<string, unknown>)['__signal_exit_emitter__'],
    (globalThis as unknown as Record<symbol, unknown>)[Symbol.for('signal-exit emitter')],
  ]
  return places.reduce<number>(
    (sum, place) => sum + ((place as { count?: number } | undefined)?.count ?? 0),
    0,
  )
}
