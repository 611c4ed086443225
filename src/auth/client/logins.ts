import { orAborted } from '../../base/backoff.ts'
import { badOption } from '../../base/options.ts'
import { McpError } from '../../errors/error.ts'
import { methodRow } from '../../protocol/methods.ts'
import type { AuthReply, Authorization, ClientAuth } from '../../rpc/client-auth.ts'
import type { Clock } from '../../rpc/clock.ts'
import type { Deadline } from '../../rpc/deadline.ts'
import type { AuthOwner, LoginRequest, Logins, LoginStream, LoginUse, OtherLogin } from '../../rpc/logins.ts'
import { stopClock } from '../../rpc/stop-clock.ts'
import { readRequestHeaders, type HeaderRecord } from '../../transport/http/client/headers.ts'
import { createLoginStream } from './login-stream.ts'
import { parseUrl } from '../../protocol/url.ts'

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

class ChangedLogin extends McpError implements OtherLogin {
  readonly isOtherLogin = true

  constructor() {
    super('session_lost', 'the credentials changed, so a new connection is opened')
  }
}

/** The logins of one client: those of its connections, and those of single requests. */
export class ClientLogins implements Logins {
  readonly #owner: AuthOwner
  readonly #opened = new WeakMap<ClientAuth, Authorization>()
  /** The login of the last request. */
  #login: string | undefined
  /** Aborts when requests get the credentials of another login. */
  #current = new AbortController()

  constructor(owner: AuthOwner) {
    this.#owner = owner
  }

  async attempt<Reply extends AuthReply>(
    auth: ClientAuth,
    url: URL,
    { verb, headers, signal, clock, ...use }: LoginRequest,
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

  async check(signal: AbortSignal, use: Partial<LoginUse> = {}): Promise<void> {
    const opened = this.#opened.get(this.#owner.auth as ClientAuth)
    if (opened?.current === undefined) return
    const login = Promise.resolve(opened.current(signal))
    this.#use(await orAborted(login, signal), use)
  }

  checkBy(deadline: Deadline): Promise<void> {
    return this.check(deadline.signal).finally(() => deadline.end())
  }

  stream(signal: AbortSignal): LoginStream {
    return createLoginStream(signal, () => this.#current.signal)
  }

  close(): void {
    this.#opened.get(this.#owner.auth as ClientAuth)?.close?.()
  }

  #open(auth: ClientAuth): Authorization {
    let opened = this.#opened.get(auth)
    if (opened === undefined) {
      const owner = this.#owner
      const { fetch, ownFetch } = owner
      const url = parseUrl(owner.url)
      url.username = url.password = url.hash = ''
      const warn = (text: string): void => owner.events?.onNote?.('stream', text)
      const loggedOut = (): void => {
        if (auth === owner.auth) this.#renew(true)
      }
      this.#opened.set(auth, (opened = auth.open({ url, fetch, ownFetch, warn, loggedOut })))
    }
    return opened
  }

  /** Tells the client if this is not the login that was used before, and keeps the connections of different logins apart. */
  #use(login: string | undefined, { method = '', bound, opens = false }: Partial<LoginUse>): void {
    // A stream that listens again follows the others; it must not make them listen again in turn.
    if (methodRow(method)?.lasting !== true) {
      if (this.#login !== undefined && this.#login !== login) this.#renew()
      this.#login = login
    }
    if (bound === undefined) return
    if (!opens && bound.login !== undefined && bound.login !== login) throw new ChangedLogin()
    bound.login = login
  }

  /** Another login begins, or none if the user logged out. */
  #renew(loggedOut?: boolean): void {
    const { events } = this.#owner
    if (events === undefined) return
    const reason = new ChangedLogin()
    events.onNewCredentials?.(reason, loggedOut)
    const former = this.#current
    this.#current = new AbortController()
    former.abort(reason)
  }
}
