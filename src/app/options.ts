import type { Some } from '../base/some.ts'
import type { Duration } from '../base/duration.ts'
import {
  callable,
  COUNT,
  DURATION,
  either,
  FLAG,
  listOf,
  object,
  oneOf,
  required,
  TEXT,
  type KindsOf,
} from '../base/kinds.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import { REVISIONS, type Revision } from '../protocol/revisions.ts'
import type { Icon } from '../protocol/spec/2026-07-28.ts'
import { PROFILE } from '../profiles/kind.ts'
import type { Profile } from '../profiles/profile.ts'
import type { Cycle } from '../gist/version.ts'
import type { AllowedKeys } from '../keys/options.ts'
import type { FramingName } from '../transport/lines/framing-name.ts'
import { TRUST_PROXY, type TrustProxy } from '../transport/http/server/proxy.ts'
import type { TlsOptions, TlsSource } from '../transport/tls/options.ts'
import { AUTH, type AuthOption } from './auth.ts'
import { LOG, type LogFunction, type Logger } from './logger.ts'
import type { StoreDriver } from '../store/driver.ts'
import type { ToolMap } from './types.ts'

/** The options of `createServer`. */
export interface ServerOptions {
  /** The name of the server for programs, such as `orders`. Default: `id`; one of the two is required. */
  readonly name?: string | undefined
  /** Another name for the option `name`; if both are given, they must be equal. Default: `name`. */
  readonly id?: string | undefined
  /** The version of the server, such as `1.0.0`, which clients and logs show. */
  readonly version: string
  /** The name of the server for people. Default: none; clients show `name`. */
  readonly title?: string | undefined
  /** A sentence that describes the server to people. Default: none. */
  readonly description?: string | undefined
  /** A page where people can read about the server. Default: none. */
  readonly websiteUrl?: string | undefined
  /** Images for clients to show, such as `[{ src: 'https://example.com/logo.svg' }]`. Default: none. */
  readonly icons?: readonly Icon[] | undefined
  /** Tells the model how to use the server. Default: none. */
  readonly instructions?: string | undefined
  /** The first tools, for example from `defineTools`. Default: none. */
  readonly tools?: ToolMap | undefined
  /** The transports that `listen()` opens without options. Default: `['stdio']`. */
  readonly transports?: readonly ('stdio' | 'http')[] | undefined
  /**
   * Capabilities to declare even if nothing that needs them is defined, such as `['tools']`. With `async`, tools that do not say
   * otherwise have `task: 'optional'`. The other words of the 2025-11 developer specification declare nothing: `stream` and `schema_ref`
   * always hold, and the log warns of `registry`, `code_exec` and `sandbox`, because Pierhead does not have them. Default: none.
   */
  readonly capabilities?: readonly string[] | undefined
  /** Entries for `capabilities.experimental`, in addition to those of extensions. Default: none. */
  readonly experimental?: JsonObject | undefined
  /** Entries for `capabilities.extensions`, in addition to those that `app.extend` adds. Default: none. */
  readonly extensions?: JsonObject | undefined
  /**
   * Seals the state that clients carry between requests, in at least 16 characters. Processes that share their clients need
   * the same one, and the same `name`. In a list, the first secret seals and the others are still accepted. Default: the environment variable
   * `PIERHEAD_SECRET`, or else the one in a shared `store`, or else a random secret.
   *
   * @example
   * createServer({ name: 'orders', version: '1.0.0', secret: [process.env.SECRET!, process.env.OLD_SECRET!] })
   */
  readonly secret?: string | readonly string[] | undefined
  /**
   * How callers are authenticated: a method of `pierhead/auth`, or a list of methods that are tried in order. It is the default for
   * every HTTP and WebSocket listener and every mount. Default: `false`, so everyone may call.
   *
   * @example
   * createServer({ name: 'orders', version: '1.0.0', auth: apiKeys({ digests }) })
   */
  readonly auth?: AuthOption | undefined
  /**
   * Keeps what must outlive a request or be known to other processes: a driver of `pierhead/stores`, or stores of several. If the driver can
   * be shared, as that of Redis, every process with the same `name` and store serves every session. Close it after the server. Default: the
   * memory of the process. With `PIERHEAD_STORE=memory`, as `pierhead test` sets it, the server leaves this store alone.
   *
   * @example
   * createServer({ name: 'films', version: '1.0.0', store: sqlite('films.db') })
   */
  readonly store?: ServerStore | undefined
  /** The revisions to serve. Default: all. */
  readonly revisions?: readonly Revision[] | undefined
  /**
   * Adapts the messages to implementations that differ from the official one; see `pierhead/profiles`. Default: the official
   * protocol.
   */
  readonly profile?: Profile | undefined
  /** The number of items on a page of a list; of tasks, at most 100. Default: 1000. */
  readonly pageSize?: number | undefined
  /** How long clients may cache lists and resources, at 2026-07-28. Default: 0, so they ask every time. */
  readonly ttl?: Duration | undefined
  /**
   * Limits on messages, memory, connections and time: `'strict'` for a server on the open internet, or changes to single
   * limits. Default: the usual values; `docs/reference/limits.md` lists both.
   *
   * @example
   * createServer({ name: 'orders', version: '1.0.0', limits: { httpBytes: 1_000_000, inFlight: 50 } })
   */
  readonly limits?: 'strict' | Some<Limits> | undefined
  /**
   * What callers learn about an error that a handler throws, other than a `ToolError` or `McpError`: `mask` sends a reference,
   * under which the log has the error; `show` sends its message, without the stack. Default: `mask`.
   */
  readonly errors?: 'mask' | 'show' | undefined
  /**
   * Receives messages for the operator: a function, or a logger such as `console`, pino or winston. Facts are plain data: an error
   * is { name, message, stack }. A logger with a `bindings` function, as pino has, is called with (facts, message), any other with
   * (message, facts). Default: `console`, which writes to stderr.
   *
   * @example
   * createServer({ name: 'orders', version: '1.0.0', log: pino(pino.destination(2)) })
   */
  readonly log?: LogFunction | Logger | undefined
  /**
   * Runs before the server serves anyone: before `listen` opens the first transport, or before a mount or a client in the same
   * process gets its first answer. If it throws, `listen` fails with that error; mounts answer 500, and try again with the next
   * request. Default: nothing runs.
   */
  readonly onStart?: (() => void | Promise<void>) | undefined
  /**
   * Runs after everything that `onStart` ran for has closed and running requests have finished. An error, or a run longer than
   * `limits.drainMs`, is reported to `log`, and closing goes on. Default: nothing runs.
   */
  readonly onStop?: (() => void | Promise<void>) | undefined
}

/** The stores of a server: a driver, or stores of several drivers. A kind that is missing is kept in the memory of the process. */
export type ServerStore = Omit<StoreDriver, 'close'>

/** The options of the HTTP listener. */
export interface HttpOptions {
  /** The port; 0 picks a free one, which `running.url` tells. Default: 3000. */
  readonly port?: number | undefined
  /** The address to listen on; `0.0.0.0` for every IPv4 address of the machine. Default: `127.0.0.1`, for this machine only. */
  readonly host?: string | undefined
  /** The path of the endpoint. Default: `/mcp`. */
  readonly path?: string | undefined
  /**
   * The host names that clients may use, without scheme and port; `*` stands for any. The pages of these hosts may send
   * requests. It is required if other machines can reach the server. Default: the names of this machine (`localhost`,
   * `127.0.0.1`, `[::1]`) for a listener on loopback, and any host for mounts.
   *
   * @example
   * await app.listen({ http: { host: '0.0.0.0', hosts: ['mcp.example.com'] } })
   */
  readonly hosts?: readonly string[] | undefined
  /** Origins of other web pages that may send requests and read the replies: `['https://example.com']`, or `['*']`. Default: none. */
  readonly cors?: readonly string[] | undefined
  /** Whether clients get sessions at the revisions that have a handshake. Default: `true`. */
  readonly sessions?: boolean | undefined
  /** Whether to serve the transport of 2024-11-05 at `/sse` and `/messages`. Only very old clients need it. Default: `false`. */
  readonly sse?: boolean | undefined
  /** Whether to serve the envelopes of the 2025-11 developer specification at `/gist`. Default: `false`. */
  readonly gist?: boolean | GistOptions | undefined
  /**
   * Whether to believe the `X-Forwarded-For`, `-Host` and `-Proto` headers of proxies: `true` for one proxy before the server, the
   * number of proxies in a row, or a list of their addresses and ranges. Default: `false`, so these headers are ignored.
   */
  readonly trustProxy?: TrustProxy | undefined
  /** How callers are authenticated; `false` for not at all. Default: the option `auth` of `createServer`. */
  readonly auth?: AuthOption | undefined
  /** The certificate of the server, which then speaks HTTPS; a function renews it without a restart. Default: none, so it speaks plain HTTP. */
  readonly tls?: TlsOptions | TlsSource | undefined
}

/** Options for the envelopes of the 2025-11 developer specification. */
export interface GistOptions {
  /** How far the version of a client may differ: by one `revision`, or by one `month`. Default: `revision`. */
  readonly cycle?: Cycle | undefined
}

/** The options of the TCP listener. */
export interface TcpOptions {
  /** The port; 0 picks a free one, which `running.addresses.tcp` tells. */
  readonly port: number
  /**
   * The address to listen on. If other machines can reach it, clients need certificates (`tls` with `ca` or `pin`), unless
   * `insecure` is set. Default: `127.0.0.1`, for this machine only.
   */
  readonly host?: string | undefined
  /** The certificate of the server, and those that clients need; a function renews them without a restart. Default: none, so connections are not encrypted. */
  readonly tls?: TlsOptions | TlsSource | undefined
  /** Accepts clients without certificates even if other machines can reach the port. Default: `false`. */
  readonly insecure?: boolean | undefined
  /**
   * How messages are separated: `lines` by line breaks, `length-prefix` by a length of four bytes before each. It must match
   * the clients. Default: `lines`.
   */
  readonly framing?: FramingName | undefined
}

/** WebSocket on the HTTP port, where only `path` can differ, or on its own port. */
export interface WsOptions {
  /** Its own port; 0 picks a free one. Default: the HTTP port if HTTP is open, otherwise 3000. */
  readonly port?: number | undefined
  /** The address to listen on. Default: `127.0.0.1`, for this machine only. */
  readonly host?: string | undefined
  /** The path that clients connect to. Default: that of HTTP if it is open, otherwise `/mcp`. */
  readonly path?: string | undefined
  /**
   * The host names that clients may use, as for HTTP; required if other machines can reach the server. Default: the names of
   * this machine.
   */
  readonly hosts?: readonly string[] | undefined
  /** Origins of web pages that may connect, besides those of `hosts`: `['https://example.com']`, or `['*']`. Default: none. */
  readonly cors?: readonly string[] | undefined
  /** Whether to believe proxies, as for HTTP. Default: `false`. */
  readonly trustProxy?: TrustProxy | undefined
  /** How callers are authenticated on a port of its own; `false` for not at all. Default: the option `auth` of `createServer`. */
  readonly auth?: AuthOption | undefined
  /** The certificate of the server, whose address then begins with `wss:`; a function renews it without a restart. Default: none. */
  readonly tls?: TlsOptions | TlsSource | undefined
}

/** The options of the Unix socket. */
export interface UnixOptions {
  /** The path of the socket file, such as `/run/user/1000/mcp.sock`. */
  readonly path: string
  /** The file permissions of the socket. Default: `0o600`, so only its owner may use it. */
  readonly mode?: number | undefined
  /** How messages are separated, as for TCP; it must match the clients. Default: `lines`. */
  readonly framing?: FramingName | undefined
  /** The scopes of everyone who can use the socket. Default: all. */
  readonly scopes?: readonly string[] | undefined
}

/** The options of stdio. */
export interface StdioOptions {
  /** The scopes of the program that started the server. Default: all. */
  readonly scopes?: readonly string[] | undefined
  /**
   * The key pairs that clients must prove before anything else: `allowKeys(…)` of `pierhead/auth`. Only clients with the option `keys` of
   * `connect` can then use the server, and each has the scopes of its key. They have `limits.headersMs` for that. Default: none, so any
   * client is accepted.
   */
  readonly keys?: AllowedKeys | undefined
}

/**
 * The options of `app.listen`. Without any transport, it opens those of the option `transports` of `createServer`, which are
 * stdio unless you change them.
 *
 * @example
 * await app.listen({ http: { port: 8080 }, ws: true })
 */
export interface ListenOptions {
  /** Serves the program that started this one, over stdin and stdout. Default: `true` if no other transport is opened. */
  readonly stdio?: boolean | StdioOptions | undefined
  /** Serves HTTP; `true` for `http://127.0.0.1:3000/mcp`. Default: `false`. */
  readonly http?: boolean | HttpOptions | undefined
  /** Serves WebSocket, on the HTTP port or on its own. Default: `false`. */
  readonly ws?: boolean | WsOptions | undefined
  /** Serves TCP, with or without TLS: `{ port: 4000 }`. Default: `false`. */
  readonly tcp?: false | TcpOptions | undefined
  /** Serves a Unix socket: the path of its file, or options. Default: `false`. */
  readonly unix?: false | string | UnixOptions | undefined
  /**
   * What happens when an error escapes from user code, such as from a promise that nobody awaits: `report` counts and logs it
   * and keeps the process alive; `exit` leaves it to Node, which ends the process, and goes before the `report` of other
   * servers. Default: `report`.
   */
  readonly onUncaught?: 'report' | 'exit' | undefined
  /**
   * The number of processes that serve the ports together, for HTTP, WebSocket and TCP; `auto` for one on each processor. This process becomes
   * their parent: it starts them again when they end, and keeps what `store` does not keep. Each of them runs the whole program. Default: 1, so
   * this process serves alone.
   *
   * @example
   * await app.listen({ http: { port: 3000 }, workers: 4 })
   */
  readonly workers?: number | 'auto' | undefined
}

/** The options of `app.node()` and `app.fetchWith()`, where a framework owns the listener. */
export type MountOptions = Pick<
  HttpOptions,
  'hosts' | 'cors' | 'sessions' | 'sse' | 'gist' | 'trustProxy' | 'auth'
>

/** Says that a server lacks its name or version. */
export function needs(key: string): string {
  return `a server needs a ${key}; write createServer({ name: 'orders', version: '1.0.0' })`
}

export const SERVER_OPTIONS: KindsOf<ServerOptions> = {
  name: TEXT,
  id: TEXT,
  version: required(TEXT, needs('version')),
  title: TEXT,
  description: TEXT,
  websiteUrl: TEXT,
  icons: listOf(object<Icon>('{ src }')),
  instructions: TEXT,
  tools: object<ToolMap>('an object: tools by name'),
  transports: listOf(oneOf('stdio', 'http')),
  capabilities: listOf(TEXT),
  experimental: object<JsonObject>(),
  extensions: object<JsonObject>(),
  secret: either(TEXT, listOf(TEXT)),
  auth: AUTH,
  store: object<ServerStore>('a driver of pierhead/stores'),
  revisions: listOf(oneOf(...REVISIONS)),
  profile: PROFILE,
  pageSize: COUNT,
  ttl: DURATION,
  limits: either(oneOf('strict'), object<Some<Limits>>()),
  errors: oneOf('mask', 'show'),
  log: LOG,
  onStart: callable<NonNullable<ServerOptions['onStart']>>(),
  onStop: callable<NonNullable<ServerOptions['onStop']>>(),
}

export const MOUNT_OPTIONS: KindsOf<MountOptions> = {
  hosts: listOf(TEXT),
  cors: listOf(TEXT),
  sessions: FLAG,
  sse: FLAG,
  gist: either(FLAG, object<GistOptions>()),
  trustProxy: TRUST_PROXY,
  auth: AUTH,
}

export const GIST_OPTIONS: KindsOf<GistOptions> = { cycle: oneOf('revision', 'month') }

/** The values of the `capabilities` option: those of the protocol, and those of the 2025-11 developer specification. */
export const CAPABILITY_WORDS: readonly string[] = [
  'tools',
  'resources',
  'prompts',
  'completions',
  'logging',
  'async',
  'registry',
  'code_exec',
  'stream',
  'sandbox',
  'schema_ref',
]

/** Those of them that Pierhead accepts and has no feature for. */
export const IDLE_WORDS: readonly string[] = ['registry', 'code_exec', 'sandbox']
