import type { Outcome } from '../../src/validate/run.ts'
import { validateServer, type Place, type ServerRunOptions } from '../../src/validate/server-run.ts'
import type { Transport } from '../../src/validate/rule.ts'
import { faultyDoor, type Served } from './faulty-door.ts'
import type { Fault } from './fault.ts'

/** How long to wait for an answer that does not come. */
const PATIENCE_MS = 2_500

interface RunInput extends Pick<ServerRunOptions, 'revisions' | 'only' | 'latency'> {
  readonly transport: Transport
  readonly fault?: Omit<Fault, 'rule' | 'does'> | undefined
  /** Headers of the user, over HTTP. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Whether tools may be called. Default: `true`. */
  readonly mayCall?: boolean | undefined
}

/** Validates the correct server through a fault, if there is one, as the command does: from the first greeting on. */
export async function wholeRun(
  served: Served,
  { transport, fault, headers, mayCall = true, ...options }: RunInput,
): Promise<{ readonly outcomes: readonly Outcome[]; readonly places: readonly Place[] }> {
  const whole = fault === undefined ? undefined : { rule: '', does: '', ...fault }
  const { door, close } = await faultyDoor(served, transport, whole, headers)
  try {
    return await validateServer({
      ...options,
      doors: [door],
      mayCall,
      ms: PATIENCE_MS,
      until: performance.now() + 60_000,
      signal: new AbortController().signal,
    })
  } finally {
    await close()
  }
}
