import { badOption } from '../../../base/options.ts'
import { McpError } from '../../../errors/error.ts'
import type { AuthReply, Authorization, ClientAuth } from '../../../rpc/client-auth.ts'
import type { Clock } from '../../../rpc/clock.ts'
import { stopClock } from '../../../rpc/stop-clock.ts'
import type { AuthOwner, Sending } from './fetch.ts'
import { readRequestHeaders, type HeaderRecord } from './headers.ts'

/** A request that gets credentials. */
type Authorized = Pick<Sending, 'verb' | 'headers' | 'signal' | 'clock'>

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
  /** The credentials that a connection sent last. */
  #sent: string | undefined

  constructor(owner: AuthOwner) {
    this.#owner = owner
  }

  /** Sends a request with its headers and those of a method, as often as the method asks for. */
  async attempt<Reply extends AuthReply>(
    auth: ClientAuth,
    url: URL,
    { verb, headers, signal, clock }: Authorized,
    send: (headers: HeaderRecord) => Promise<Reply>,
  ): Promise<Reply> {
    const isShared = auth === this.#owner.auth
    if (isShared && Object.hasOwn(headers, 'authorization'))
      throw badOption('headers "authorization"', `auth: ${auth.name}() sets it; give only one of the two`)
    const timed = clock && { pause: () => stopClock(clock), during: (step: Step) => explain(clock, step) }
    const request = { verb, url, signal, ...timed }
    return this.#open(auth).attempt(request, async (own) => {
      const all = { ...headers, ...readRequestHeaders(own) }
      if (isShared) this.#note(all['authorization'])
      return send(all)
    })
  }

  /** Finds out whether connections have other credentials by now. */
  async check(signal: AbortSignal): Promise<void> {
    const opened = this.#opened.get(this.#owner.auth as ClientAuth)
    if (opened?.current !== undefined) this.#note(await opened.current(signal))
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
      this.#opened.set(auth, (opened = auth.open({ url, fetch, ownFetch, warn })))
    }
    return opened
  }

  /** Tells the client if these are not the credentials that were sent before. */
  #note(authorization: string | undefined): void {
    if (this.#sent !== undefined && this.#sent !== authorization) this.#owner.events?.onNewCredentials?.()
    this.#sent = authorization
  }
}
