/** The part of a server that the end of the process needs. */
interface Closable {
  close(): Promise<void>
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** The open listeners of this process; a server that listens twice has two entries. */
const listening = new Set<{ readonly server: Closable }>()
let isExiting = false
/** Handles signals instead, in a process whose parent decides when it ends. */
let forward: ((signal: NodeJS.Signals) => void) | undefined

/** Closes a server when a signal ends the process. Returns a function that undoes this. */
export function closeOnSignal(server: Closable): () => void {
  const entry = { server }
  if (listening.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal)
  listening.add(entry)
  return () => {
    listening.delete(entry)
    if (listening.size === 0) for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}

/** Closes these servers and all that listen in this process, then exits with this code, or else with `process.exitCode`. */
export async function exitWhenClosed(servers: readonly Closable[], code?: number): Promise<void> {
  isExiting = true
  const all = new Set([...servers, ...[...listening].map(({ server }) => server)])
  await Promise.allSettled([...all].map((one) => one.close()))
  process.exit(code ?? process.exitCode)
}

/** Leaves it to another process to end this one: signals are only passed on. */
export function forwardSignals(to: (signal: NodeJS.Signals) => void): void {
  forward = to
}

/** A second signal exits at once. */
function onSignal(signal: NodeJS.Signals): void {
  if (forward !== undefined) return forward(signal)
  if (isExiting) process.exit(signal === 'SIGINT' ? 130 : 143)
  void exitWhenClosed([])
}
