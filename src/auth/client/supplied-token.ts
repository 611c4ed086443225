import { orAborted } from '../../base/backoff.ts'
import { TokenError } from './token-error.ts'
import { isTokenText } from './token-text.ts'

/** What a function of the program is asked for. */
export interface Supply {
  /** The option that the function is the value of. */
  readonly option: string
  /** What it must return. */
  readonly must: string
  ask(): string | Promise<string>
}

/**
 * Asks a function of the program for a token that it has from elsewhere, until nobody waits any more. Blanks around the token are
 * removed, since files often end with a line break.
 */
export async function askFor({ option, must, ask }: Supply, signal: AbortSignal): Promise<string> {
  const asking = (async (): Promise<unknown> => ask())()
  const given = await orAborted(asking, signal).catch((thrown: unknown) => {
    signal.throwIfAborted()
    const reason = thrown instanceof Error ? thrown.message : 'it threw something other than an error'
    throw new TokenError(`the function of the option ${option} failed: ${reason}`, { cause: thrown })
  })
  const token = typeof given === 'string' ? given.trim() : ''
  if (isTokenText(token)) return token
  throw new TokenError(`the function of the option ${option} must return ${must}`)
}
