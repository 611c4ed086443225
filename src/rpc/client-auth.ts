import type { Kind } from '../base/kinds.ts'

/**
 * A way to authenticate to servers, as the functions of `pierhead/auth/client` create it; `defineAuth` is for methods of your own. It brings
 * its own code, so that clients without it load none.
 */
export interface ClientAuth {
  /** The function that created it, such as `browser`, for messages. */
  readonly name: string
  /** Prepares the credentials for one server. Each client calls it once. */
  open(server: AuthServer): Authorization
  /** Keeps the logins of one client apart: an `AuthOwner` gets its `Logins`. */
  logins(owner: object): object
}

/** The server that credentials are for. */
export interface AuthServer {
  /** The URL that the client connects to, with its own scheme: `http`, `https`, `ws` or `wss`. */
  readonly url: URL
  /** The option `fetch` of the client, which also sends the requests for metadata and tokens. Default: that of the platform. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /**
   * Sends requests to the origin of the server itself, with the option `tls` of the client. Use it for nothing else: it shows the
   * client's certificate. Default: the client has no such option.
   */
  readonly ownFetch?: typeof globalThis.fetch | undefined
  /** Tells the user of the client. */
  warn(text: string): void
  /** Call it when the user has logged out: the client then forgets results and closes connections of that login. Default: it notices at the next request. */
  loggedOut?(): void
}

/** The credentials of one client for one server. */
export interface Authorization {
  /**
   * Sends a request with credentials, and again with new ones while the server rejects them and others can be had. Resolves with the last
   * reply. Rejects with an `McpError` if a login fails. `login` identifies the login that the headers come from: sessions and cached results of
   * one login are not used for another. Default: the header `Authorization`, so that each new token counts as another login.
   */
  attempt<Reply extends AuthReply>(
    request: AuthRequest,
    send: (headers: Readonly<Record<string, string>>, login?: string) => Promise<Reply>,
  ): Promise<Reply>
  /**
   * The `login` of a request that is sent now; undefined if nobody is logged in. The client asks before it answers a request from its cache or
   * sends it over an open WebSocket, in case the program uses the credentials of another user by now. Default: they change only with the HTTP
   * requests that are sent.
   */
  current?(signal: AbortSignal): Promise<string | undefined>
  /** Stops a login that nobody waits for. */
  close?(): void
}

/** A request that needs credentials. */
export interface AuthRequest {
  /**
   * The HTTP method; `GET` for the opening request of a WebSocket. `DELETE` ends a session while the client closes, so nobody should
   * be asked to log in for it.
   */
  readonly verb: string
  /** The URL of the request, with the scheme `http` or `https`. */
  readonly url: URL
  /** Aborts when nobody waits for the reply. */
  readonly signal: AbortSignal
  /** Stops the clock of the request while a person logs in; returns the function that starts it again. Default: it runs on. */
  readonly pause?: (() => () => void) | undefined
  /**
   * Takes a function that names the current step of a login, for the error if the time of the request is over meanwhile; returns the
   * function that ends that. Default: the error names no step.
   */
  readonly during?: ((step: () => string | undefined) => () => void) | undefined
}

/** A reply, as far as credentials are concerned. A `Response` is one. */
export interface AuthReply {
  /** The HTTP status; 101 if a WebSocket opened. */
  readonly status: number
  /** The headers, as far as the runtime shows them. */
  readonly headers: {
    /** The value of a header, whose name may have any case; `null` if there is none. */
    get(name: string): string | null
  }
  /** The body, which is cancelled if the request is sent again; `null` or undefined if there is none. */
  readonly body?:
    | {
        /** Ends reading. */
        cancel(): Promise<void>
      }
    | null
    | undefined
}

/** The kind of the option `auth`. */
export const CLIENT_AUTH: Kind<ClientAuth> = {
  must: 'a method of pierhead/auth/client, such as browser()',
  is: (value) => typeof (value as ClientAuth | null)?.logins === 'function',
}
