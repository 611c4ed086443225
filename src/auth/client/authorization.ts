import type { AuthorizationServer } from 'oauth4webapi'
import { orAborted } from '../../base/backoff.ts'
import { Deferred } from '../../base/deferred.ts'
import type { AuthReply, AuthRequest, Authorization } from '../../transport/http/client/auth-method.ts'
import type { HeaderRecord } from '../../transport/http/client/headers.ts'
import { discard } from './discard.ts'
import { Flight } from './flight.ts'
import { LoginHistory } from './login-history.ts'
import { readNeed, type Need } from './need.ts'
import { readPlace } from './place.ts'
import { LoginProblem } from './problem.ts'
import { renew } from './renewal.ts'
import { rotate } from './rotation.ts'
import { issuerOf, toHeld, vaultFailure, type Held, type Setup } from './setup.ts'
import { Steps } from './steps.ts'
import type { StoredTokens } from './vault.ts'

/** How often credentials are replaced for one request, as a last resort: the reasons to replace them have lower limits. */
const MAX_RENEWALS = 5
/** How often the same scopes are requested, and how often one request causes a login. */
const MAX_REQUESTS = 3
/** How often the vault is looked into at most, because others who share it may log out. */
const LOOK_MS = 1_000

type Send<Reply> = (headers: HeaderRecord, login?: string) => Promise<Reply>

/** The credentials for one server, shared by all clients of one method. At most one login or refresh runs at a time. */
export class SharedLogin {
  /** The clients that are open, and the logouts that run. */
  clients = 0
  held: Held | undefined
  loading: Promise<void> | undefined
  /** Resolves when a logout has removed the tokens from the vault, where nobody should find them meanwhile. */
  leaving: Promise<void> | undefined
  flight: Flight<Held | undefined> | undefined
  /** The steps of a refresh that failed, for the login that follows. */
  before: Steps | undefined
  /** The logins so far, to bound those that follow. */
  history: LoginHistory
  #lookedAt: number = performance.now()

  /** The number of logins and logouts so far. */
  #logins = 0
  /** Called when the user logs out. */
  readonly onForgotten: Set<() => void> = new Set()

  /** The logins of closed clients still count. */
  constructor(history: LoginHistory = new LoginHistory()) {
    this.history = history
  }

  /** Uses other credentials, of another login or of the same. */
  hold(held: Held | undefined, isSame: boolean): void {
    if (held !== undefined) held.login ??= String(isSame ? this.#logins : ++this.#logins)
    this.held = held
  }

  /** Identifies the login: what belongs to another is out of date. */
  get login(): string {
    return String(this.#logins)
  }

  /** Logs out: forgets everything, and removes it from the vault. Requests that need credentials wait until that is done. */
  async leave<Removed>(remove: () => Promise<Removed>, signal: AbortSignal): Promise<Removed> {
    const { promise, resolve } = new Deferred<void>()
    this.leaving = promise
    this.clients++
    try {
      await this.#forget(signal)
      return await remove()
    } finally {
      this.clients--
      if (this.leaving === promise) this.leaving = undefined
      resolve()
    }
  }

  /** Forgets everything, because the user logs out. A login that runs is cancelled, and waited for until the signal aborts. */
  async #forget(signal: AbortSignal): Promise<void> {
    this.before = undefined
    this.history = new LoginHistory()
    const ended = this.flight?.cancel('the user logged out')
    this.lose()
    // What goes on after that stores no tokens.
    if (ended !== undefined) await orAborted(ended, signal).catch(() => undefined)
  }

  /** The user has logged out, here or elsewhere. */
  lose(): void {
    this.held = undefined
    this.#logins++
    for (const tell of this.onForgotten) tell()
  }

  /** Whether it is time to look into the vault again. */
  isStale(): boolean {
    const now = performance.now()
    if (this.flight !== undefined || now - this.#lookedAt < LOOK_MS) return false
    this.#lookedAt = now
    return true
  }
}

/** The credentials of one client for one server. */
export class GrantAuthorization implements Authorization {
  readonly #setup: Setup
  readonly #shared: SharedLogin
  readonly #closed = new AbortController()

  readonly #onForgotten: () => void

  constructor(setup: Setup, shared: SharedLogin, onForgotten: () => void = () => undefined) {
    this.#setup = setup
    this.#shared = shared
    this.#onForgotten = onForgotten
    shared.clients++
    shared.onForgotten.add(onForgotten)
  }

  async current(): Promise<string | undefined> {
    return this.#shared.held?.login
  }

  async attempt<Reply extends AuthReply>(request: AuthRequest, send: Send<Reply>): Promise<Reply> {
    // Credentials are for the server, wherever a request goes.
    if (request.url.origin !== this.#setup.server.origin) return send({})
    const isLast = request.verb === 'DELETE'
    let held = await this.#ready(request, isLast)
    let logins = 0
    for (let renewals = 0; ; renewals++) {
      const reply = await sendWith(held, request, send)
      const need = readNeed(reply)
      if (held !== undefined && reply.status !== 401) held.isAccepted = true
      // A client that closes ends its session with a last request, for which nobody should log in.
      if (need === undefined || isLast || renewals === MAX_RENEWALS || logins === MAX_REQUESTS) return reply
      if (need.kind === 'scopes' && this.#isFutile(need, held)) return reply
      await discard(reply)
      held = await this.#replace(request, held, need)
      if (held?.source === 'granted') logins++
    }
  }

  /** Stops waiting. A login goes on only if another client waits for it. */
  close(): void {
    if (this.#closed.signal.aborted) return
    this.#shared.clients--
    this.#shared.onForgotten.delete(this.#onForgotten)
    this.#closed.abort(new Steps(this.#setup.server).failed(new LoginProblem('the client was closed')))
  }

  /** The credentials to begin with. Those that are known to have expired are refreshed first. */
  async #ready(request: AuthRequest, isLast: boolean): Promise<Held | undefined> {
    await (this.#shared.loading ??= this.#load())
    if (!isLast) await this.#look()
    const { held } = this.#shared
    if (held === undefined || isLast) return held
    const fresh = this.#isDue(held)
      ? await this.#join(request, (flight) => this.#refresh(held, flight))
      : held
    const scopes = fresh === undefined ? [] : lackedScopes(this.#setup, fresh.tokens)
    if (scopes.length === 0) return fresh
    const need: Need = {
      kind: 'scopes',
      status: undefined,
      scopes,
      metadataUrl: undefined,
      wantsDpop: false,
    }
    return this.#replace(request, fresh, need)
  }

  #isDue({ refreshAt, tokens }: Held): boolean {
    const canRefresh = this.#setup.grant.refresh !== undefined && tokens.refreshToken !== undefined
    return canRefresh && refreshAt <= Date.now()
  }

  async #load(): Promise<void> {
    const { vault, owner, server } = this.#setup
    const shared = this.#shared
    while (shared.leaving !== undefined) await shared.leaving
    const { login } = shared
    try {
      for (const key of await vault.keys()) {
        const place = readPlace(key, owner, server)
        if (place === undefined || (this.#setup.issuer ?? place.issuer) !== place.issuer) continue
        const held = await toHeld(this.#setup, place, await vault.read(key))
        // The user may have logged out since.
        if (shared.login !== login) return
        shared.hold(held, false)
      }
    } catch (thrown) {
      shared.loading = undefined
      throw vaultFailure(vault, thrown)
    }
  }

  /** Takes over what others who share the vault changed: they may have logged out, and an issuer may accept the token nevertheless. */
  async #look(): Promise<void> {
    const shared = this.#shared
    const { held } = shared
    if (held === undefined || !shared.isStale()) return
    const { place, tokens } = held
    try {
      const stored = await this.#setup.vault.read(place.key)
      if (stored?.tokens?.accessToken === tokens.accessToken) return
      const next = await toHeld(this.#setup, place, stored)
      if (shared.held !== held || shared.flight !== undefined) return
      if (next === undefined) shared.lose()
      else shared.hold(next, this.#isSame(next))
    } catch {
      // The token may be good, so the server decides.
    }
  }

  /** Undefined if the issuer rejects the refresh token. If it cannot be used now, the server decides about the expired token. */
  async #refresh(held: Held, flight: Flight<unknown>): Promise<Held | undefined> {
    const { place, tokens } = held
    const steps = new Steps(this.#setup.server)
    this.#shared.before = flight.steps = steps
    const issuer = (): Promise<AuthorizationServer> => issuerOf(this.#setup, place, steps, flight.signal)
    try {
      return await rotate(this.#setup, place, issuer, tokens.accessToken, steps, flight)
    } catch (thrown) {
      if (!(thrown instanceof LoginProblem)) throw steps.failed(thrown)
      steps.note(`could not refresh the token: ${thrown.message}`)
      return held
    }
  }

  /** Gets other credentials after some were rejected, unless another request already did. */
  async #replace(request: AuthRequest, rejected: Held | undefined, need: Need): Promise<Held | undefined> {
    const shared = this.#shared
    if (shared.held !== undefined && shared.held !== rejected) return shared.held
    return this.#join(request, (flight) => {
      const { before, history } = shared
      shared.before = undefined
      return renew(this.#setup, { need, held: rejected, before, flight, history })
    })
  }

  /** Waits for the flight that is under way, or starts one. */
  #join(
    request: AuthRequest,
    run: (flight: Flight<Held | undefined>) => Promise<Held | undefined>,
  ): Promise<Held | undefined> {
    const shared = this.#shared
    const signal = AbortSignal.any([request.signal, this.#closed.signal])
    signal.throwIfAborted()
    const ended = (): void => {
      if (shared.flight === flight) shared.flight = undefined
    }
    const start = async (started: Flight<Held | undefined>): Promise<Held | undefined> => {
      if (shared.leaving !== undefined) await shared.leaving
      const held = await run(started)
      // If nobody waits any more, the vault has the result. After a logout, nobody should.
      if (shared.flight === started) shared.hold(held, this.#isSame(held))
      return held
    }
    const flight = (shared.flight ??= new Flight(start, ended))
    return flight.join(request, signal)
  }

  /** Whether new credentials are those of the user before. Whoever logs in or stores a login may be another; a service stays the same. */
  #isSame(held: Held | undefined): boolean {
    return held?.source === 'refreshed' || !this.#setup.grant.isInteractive
  }

  /** Whether the scopes that are missing were requested so often that one more request would not help. */
  #isFutile({ scopes = [] }: Need, held: Held | undefined): boolean {
    const times = this.#shared.history.timesRequested(scopes)
    const isGranted = scopes.every((scope) => held?.tokens.scopes?.includes(scope) === true)
    // Asking once more for what was granted rarely changes anything, and what was not granted will not be the next time.
    return times >= (isGranted ? MAX_REQUESTS - 1 : 1)
  }
}

/** The scopes of the options that a login has not, and was not denied. Those of a service were all asked for. */
function lackedScopes(
  { grant, scopes = [] }: Setup,
  { scopes: granted, denied = [] }: StoredTokens,
): string[] {
  if (!grant.isInteractive || granted === undefined) return []
  const known = ['offline_access', ...granted, ...denied]
  return scopes.filter((scope) => !known.includes(scope))
}

/** Sends a request with credentials, and again if only the nonce of the proof was not the one that the server wants. */
async function sendWith<Reply extends AuthReply>(
  held: Held | undefined,
  request: AuthRequest,
  send: Send<Reply>,
): Promise<Reply> {
  if (held === undefined) return send({})
  const { dpop, tokens, login } = held
  if (dpop === undefined) return send({ authorization: `Bearer ${tokens.accessToken}` }, login)
  const reply = await send(await dpop.headers(request, tokens.accessToken), login)
  if (!dpop.observe(request.url, reply)) return reply
  await discard(reply)
  const second = await send(await dpop.headers(request, tokens.accessToken), login)
  dpop.observe(request.url, second)
  return second
}
