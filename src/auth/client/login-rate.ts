import { LoginProblem } from './problem.ts'

/** How many logins may begin within how many milliseconds. */
const LIMITS = [
  { most: 3, ms: 60_000, within: 'a minute' },
  { most: 10, ms: 3_600_000, within: 'an hour' },
] as const
const LONGEST_MS = 3_600_000
/** Servers that are remembered. */
const MAX_SERVERS = 1_000

/** Too many logins have begun; the next one has to wait. */
export class TooManyLogins extends LoginProblem {
  readonly waitMs: number

  constructor(message: string, waitMs: number) {
    super(message)
    this.waitMs = waitMs
  }
}

/** Bounds how often a person is asked to log in, whatever servers, issuers and retrying programs do. */
export class LoginRate {
  readonly #now: () => number
  /** When logins began, by server, the oldest first. */
  readonly #begun = new Map<string, number[]>()

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Begins a login, or throws. The function that it returns takes that back, for a login that the person refused in the program. */
  begin(server: string): () => void {
    const now = this.#now()
    const times = (this.#begun.get(server) ?? []).filter((time) => time > now - LONGEST_MS)
    for (const { most, ms, within } of LIMITS) {
      const first = times.at(-most)
      if (first === undefined || first <= now - ms) continue
      const waitMs = first + ms - now
      throw new TooManyLogins(
        `${most} logins to this server began within ${within}; the next one may begin in ${Math.ceil(waitMs / 1000)} s`,
        waitMs,
      )
    }
    times.push(now)
    this.#begun.delete(server)
    this.#begun.set(server, times)
    const [oldest] = this.#begun.keys()
    if (this.#begun.size > MAX_SERVERS) this.#begun.delete(oldest as string)
    return () => {
      // Another login may have begun since, with a list of its own.
      const current = this.#begun.get(server)
      const at = current?.indexOf(now) ?? -1
      if (at >= 0) current?.splice(at, 1)
    }
  }

  /** Forgets the logins to a server. */
  reset(server: string): void {
    this.#begun.delete(server)
  }
}

/** The logins of this process. */
export const loginRate: LoginRate = new LoginRate()
