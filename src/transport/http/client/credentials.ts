import { badOption } from '../../../base/options.ts'
import { McpError } from '../../../errors/error.ts'
import type { AuthReply, Authorization, ClientAuth } from '../../../rpc/client-auth.ts'
import { methodRow } from '../../../protocol/methods.ts'
import type { Clock } from '../../../rpc/clock.ts'
import { OtherLogin } from '../../../rpc/other-login.ts'
import { stopClock } from '../../../rpc/stop-clock.ts'
import type { AuthOwner, Sending } from './fetch.ts'
import { readRequestHeaders, type HeaderRecord } from './headers.ts'

/** A request that gets credentials. */
type Authorized = Pick<Sending, 'verb' | 'headers' | 'signal' | 'clock'> & Use

/** The use of a login. */
type Use = Pick<Sending, 'method' | 'bound' | 'opens'>

type Step = () => string | undefined

/** Lets errors of a clock name the step of a login, until the returned function is called. */
function explain(clock: Clock, step: Step): () => void {
  const { explain: before } = clock
  const named = (error: McpError): McpError => {
    const current = step()
    if (current === undefined) return error
    return new McpError(error.kind, `${error.message}; the login was at the step: ${current}`, {
      data: { step: current },
      hint: 'The issuer may be slow: check that it can be reached. Then raise the timeout, or try again.',
    })
  }
  clock.explain = named
  return () => {
    if (clock.explain === named) clock.explain = before
  }
}

/** The credentials of a client. */
export function credentialsOf(owner: AuthOwner): Credentials {
  return (owner.credentials ??= new Credentials(owner))
}

/** The credentials of one client: those of its connections, and those of single requests. */
export class Credentials {
  readonly #owner: AuthOwner
  readonly #opened = new WeakMap<ClientAuth, Authorization>()
  /** The login of the last request. */
  #login: string | undefined

  constructor(owner: AuthOwner) {
    this.#owner = owner
  }

  /** Sends a request with its headers and those of a method, as often as the method asks for. */
  async attempt<Reply extends AuthReply>(
    auth: ClientAuth,
    url: URL,
    { verb, headers, signal, clock, ...use }: Authorized,
    send: (headers: HeaderRecord) => Promise<Reply>,
  ): Promise<Reply> {
    const isShared = auth === this.#owner.auth
    if (isShared && Object.hasOwn(headers, 'authorization'))
      throw badOption('headers "authorization"', `auth: ${auth.name}() sets it; give only one of the two`)
    const timed = clock && { pause: () => stopClock(clock), during: (step: Step) => explain(clock, step) }
    const request = { verb, url, signal, ...timed }
    return this.#open(auth).attempt(request, async (own, login) => {
      const all = { ...headers, ...readRequestHeaders(own) }
      if (isShared) this.#use(login ?? all['authorization'], use)
      return send(all)
    })
  }

  /** Finds out whether requests have another login by now. Rejects if a connection that a method uses does not belong to it. */
  async check(signal: AbortSignal, use: Partial<Use> = {}): Promise<void> {
    const opened = this.#opened.get(this.#owner.auth as ClientAuth)
    if (opened?.current !== undefined) this.#use(await opened.current(signal), use)
  }

  /** Ends the logins of connections. */
  close(): void {
    this.#opened.get(this.#owner.auth as ClientAuth)?.close?.()
  }

  #open(auth: ClientAuth): Authorization {
    let opened = this.#opened.get(auth)
    if (opened === undefined) {
      const owner = this.#owner
      const { fetch, ownFetch } = owner
      const url = new URL(owner.url)
      url.username = url.password = url.hash = ''
      const warn = (text: string): void => owner.events?.onNote?.('stream', text)
      const loggedOut = (): void => {
        if (auth === owner.auth) owner.events?.onNewCredentials?.(true)
      }
      this.#opened.set(auth, (opened = auth.open({ url, fetch, ownFetch, warn, loggedOut })))
    }
    return opened
  }

  /** Tells the client if this is not the login that was used before, and keeps the connections of different logins apart. */
  #use(login: string | undefined, { method = '', bound, opens = false }: Partial<Use>): void {
    // A stream that listens again follows the others; it must not make them listen again in turn.
    if (methodRow(method)?.lasting !== true) {
      if (this.#login !== undefined && this.#login !== login) this.#owner.events?.onNewCredentials?.()
      this.#login = login
    }
    if (bound === undefined) return
    if (!opens && bound.login !== undefined && bound.login !== login) throw new OtherLogin()
    bound.login = login
  }
}
