import { DpopKeys } from './dpop.ts'
import { LoginRate } from './login-rate.ts'

/** Requests for scopes that are remembered. */
const MAX_REMEMBERED = 64

/** The logins to one server that are remembered, also while no client is open, so that the server cannot cause any number of them. */
export class LoginHistory {
  /** Bounds the logins of a service. */
  readonly rate: LoginRate = new LoginRate(undefined, 'service')
  /** The keys that were created. */
  readonly keys: DpopKeys = new DpopKeys()
  /** The scopes of each login that gave tokens. */
  readonly #requested: (readonly string[])[] = []

  /** Notes the scopes of a login that gave tokens, with or without them. */
  answered(scopes: readonly string[] = []): void {
    this.#requested.push(scopes)
    if (this.#requested.length > MAX_REMEMBERED) this.#requested.shift()
  }

  /** How many logins asked for these scopes and gave tokens. Those that a person refused say nothing about the next one. */
  timesRequested(scopes: readonly string[]): number {
    return this.#requested.filter((asked) => scopes.every((scope) => asked.includes(scope))).length
  }
}
