import process from 'node:process'

/** Something that must not outlive this process. */
export interface Killable {
  /** Ends it at once, without waiting. */
  killNow(): void
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type Deadly = (typeof SIGNALS)[number]

const living = new Set<Killable>()

/** Ends it when this process ends, by itself or by a signal. Listens only while there is something to end. */
export function killOnExit(mortal: Killable): void {
  if (living.size === 0) {
    process.on('exit', killAll)
    for (const signal of SIGNALS) process.on(signal, onSignal)
  }
  living.add(mortal)
}

/** It has ended by itself. */
export function releaseKillable(mortal: Killable): void {
  if (living.delete(mortal) && living.size === 0) stopListening()
}

function stopListening(): void {
  process.off('exit', killAll)
  for (const signal of SIGNALS) process.off(signal, onSignal)
}

function killAll(): void {
  for (const mortal of living) mortal.killNow()
}

/** A signal that nobody else handles ends this process, as it would have without us. */
function onSignal(signal: Deadly): void {
  if (process.listenerCount(signal) > 1 + onlookers()) return
  killAll()
  living.clear()
  stopListening()
  process.kill(process.pid, signal)
}

/**
 * Listeners that, like ours, only act when nobody else does. The package signal-exit, which many programs have loaded,
 * counts its own in these places; without a look at them each would wait for the other and the signal would be lost.
 */
function onlookers(): number {
  const places: readonly unknown[] = [
    (process as unknown as Record<string, unknown>)['__signal_exit_emitter__'],
    (globalThis as unknown as Record<symbol, unknown>)[Symbol.for('signal-exit emitter')],
  ]
  return places.reduce<number>(
    (sum, place) => sum + ((place as { count?: number } | undefined)?.count ?? 0),
    0,
  )
}
