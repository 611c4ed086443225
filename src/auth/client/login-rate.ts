import { LoginProblem } from './problem.ts'

/** The party that logs in: a person, or a service without one. */
type Who = 'person' | 'service'

/** How many logins may begin within how many milliseconds. */
interface Limit {
  readonly most: number
  readonly ms: number
  readonly within: string
}

/** The limits of those who log in. Services have high ones: some servers want a scope for each tool, and some tokens live for seconds. */
const LIMITS: Readonly<Record<Who, readonly Limit[]>> = {
  person: [
    { most: 3, ms: 60_000, within: 'a minute' },
    { most: 10, ms: 3_600_000, within: 'an hour' },
  ],
  service: [
    { most: 30, ms: 60_000, within: 'a minute' },
    { most: 300, ms: 3_600_000, within: 'an hour' },
  ],
}
const LONGEST_MS = 3_600_000
/** Servers that are remembered. */
const MAX_SERVERS = 1_000

/** Too many logins have begun; the next one has to wait. */
export class TooManyLogins extends LoginProblem {
  readonly waitMs: number
  /** Whether a program may try again by itself then, because no person is asked. */
  readonly isPassing: boolean

  constructor(message: string, waitMs: number, isPassing: boolean) {
    super(message)
    this.waitMs = waitMs
    this.isPassing = isPassing
  }
}

/** Bounds how often a person is asked to log in, or a service logs in, whatever servers, issuers and retrying programs do. */
export class LoginRate {
  readonly #now: () => number
  readonly #who: Who
  /** When logins began, by server, the oldest first. */
  readonly #begun = new Map<string, number[]>()

  constructor(now: () => number = () => performance.now(), who: Who = 'person') {
    this.#now = now
    this.#who = who
  }

  /** Begins a login, or throws. The function that it returns takes that back, for a login that does not count. */
  begin(server: string): () => void {
    const now = this.#now()
    const times = (this.#begun.get(server) ?? []).filter((time) => time > now - LONGEST_MS)
    for (const { most, ms, within } of LIMITS[this.#who]) {
      const first = times.at(-most)
      if (first === undefined || first <= now - ms) continue
      const waitMs = first + ms - now
      throw new TooManyLogins(
        `${most} logins to this server began within ${within}; the next one may begin in ${Math.ceil(waitMs / 1000)} s`,
        waitMs,
        this.#who === 'service',
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

/** The logins of persons in this process. */
export const loginRate: LoginRate = new LoginRate()
