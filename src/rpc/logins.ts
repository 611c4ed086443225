import type { McpError } from '../errors/error.ts'
import type { AuthReply, AuthServer, ClientAuth } from './client-auth.ts'
import type { TransportEvents } from './client-transport.ts'
import type { Clock } from './clock.ts'
import type { Deadline } from './deadline.ts'

/** A client as its logins know it. */
export interface AuthOwner extends Pick<AuthServer, 'url' | 'fetch' | 'ownFetch'> {
  /** How its connections authenticate. */
  readonly auth?: ClientAuth | undefined
  /** The events of the latest connection. */
  events?: TransportEvents
  logins?: Logins
  /** The scopes that a connection lacked, which the next one needs. */
  missing?: readonly string[] | undefined
}

/** Keeps the logins of one client apart. Its methods bring the code along (`src/auth/client/logins.ts`), so that clients without one have none of it. */
export interface Logins {
  /** Sends a request with its headers and those of a method, as often as the method asks for. */
  attempt<Reply extends AuthReply>(
    auth: ClientAuth,
    url: URL,
    request: LoginRequest,
    send: (headers: Readonly<Record<string, string>>) => Promise<Reply>,
  ): Promise<Reply>
  /** Finds out whether requests have another login by now. Rejects with `OtherLogin` if a connection does not belong to it. */
  check(signal: AbortSignal, use?: Partial<LoginUse>): Promise<void>
  /** Does the same until a deadline, which it ends. */
  checkBy(deadline: Deadline): Promise<void>
  /** Prepares a stream that ends when the signal aborts or the login changes. */
  stream(signal: AbortSignal): LoginStream
  /** Ends the logins of connections. */
  close(): void
}

/** The use of a login. */
export interface LoginUse {
  /** Names the message, for errors. */
  readonly method: string
  /** The connection or session, whose login the request must have. */
  readonly bound?: Bound | undefined
  /** Whether that takes over the login of the request instead. */
  readonly opens?: boolean | undefined
}

/** A request that gets credentials. */
export interface LoginRequest extends LoginUse {
  readonly verb: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Stands still while a person logs in. */
  readonly clock?: Clock | undefined
}

/** A stream that ends with the login of its latest attempt: the login may change while a connection is opened for it. */
export interface LoginStream {
  readonly signal: AbortSignal
  /** Whether the login has changed. */
  readonly isFormer: boolean
  /** An attempt is sent. */
  begin(): void
  /** The stream is over. */
  end(): void
}

/** The login that a connection or session belongs to, once it is known. */
export interface Bound {
  login?: string | undefined
}

/** Rejects a request, before it is sent, on a connection that belongs to another login. */
export interface OtherLogin extends McpError {
  readonly isOtherLogin: true
}

/** Whether an error is an `OtherLogin`. */
export function isOtherLogin(error: unknown): error is OtherLogin {
  return (error as OtherLogin | undefined)?.isOtherLogin === true
}

/** The logins of a client, which begin with its first method. */
export function loginsOf(owner: AuthOwner, auth: ClientAuth): Logins {
  return (owner.logins ??= auth.logins(owner) as Logins)
}
