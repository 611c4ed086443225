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
import type { FramingName } from '../transport/lines/framing-name.ts'
import { TRUST_PROXY, type TrustProxy } from '../transport/http/server/proxy.ts'
import type { TlsOptions } from '../transport/tls/options.ts'
import { LOG, type LogFunction, type Logger } from './logger.ts'
import type { ToolMap } from './types.ts'

/** The options of `createServer`. */
export interface ServerOptions {
  /** The name of the server for programs; `id` is an alias. */
  readonly name?: string | undefined
  readonly id?: string | undefined
  readonly version: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly websiteUrl?: string | undefined
  readonly icons?: readonly Icon[] | undefined
  /** Tells the model how to use the server. */
  readonly instructions?: string | undefined
  /** The first tools, for example from `defineTools`. */
  readonly tools?: ToolMap | undefined
  /** The transports that `listen()` opens without options; by default stdio. */
  readonly transports?: readonly ('stdio' | 'http')[] | undefined
  /** Capabilities to declare even if nothing that needs them is defined. */
  readonly capabilities?: readonly string[] | undefined
  readonly experimental?: JsonObject | undefined
  readonly extensions?: JsonObject | undefined
  /**
   * Seals the state that clients carry between requests. In a list, the first secret seals and the others are still
   * accepted. By default `PIERHEAD_SECRET`, or else a random secret.
   */
  readonly secret?: string | readonly string[] | undefined
  /** The revisions to serve; by default all. */
  readonly revisions?: readonly Revision[] | undefined
  /** Adapts the messages to implementations that differ from the official one; see `pierhead/profiles`. */
  readonly profile?: Profile | undefined
  /** The number of items on a page of a list. */
  readonly pageSize?: number | undefined
  /** How long clients may cache lists and resources. */
  readonly ttl?: Duration | undefined
  readonly limits?: 'strict' | Some<Limits> | undefined
  /**
   * What callers learn about an error that a handler throws, other than a `ToolError` or `McpError`: `mask` (the default) sends a
   * reference, under which the log has the error; `show` sends its message, without the stack.
   */
  readonly errors?: 'mask' | 'show' | undefined
  /**
   * Receives messages for the operator: a function, or a logger such as `console` (the default, which writes to stderr), pino or
   * winston. Facts are plain data: an error is { name, message, stack }. A logger with a `bindings` function, as pino has, is called
   * with (facts, message), any other with (message, facts).
   *
   * @example
   * createServer({ name: 'orders', version: '1.0.0', log: pino(pino.destination(2)) })
   */
  readonly log?: LogFunction | Logger | undefined
  /**
   * Runs before the server serves anyone: before `listen` opens the first transport, or before a mount or a client in the same
   * process gets its first answer. If it throws, `listen` fails with that error; mounts answer 500, and try again with the next
   * request. By default nothing runs.
   */
  readonly onStart?: (() => void | Promise<void>) | undefined
  /**
   * Runs after everything that `onStart` ran for has closed and running requests have finished. An error, or a run longer than
   * `limits.drainMs`, is reported to `log`, and closing goes on. By default nothing runs.
   */
  readonly onStop?: (() => void | Promise<void>) | undefined
}

export interface HttpOptions {
  readonly port?: number | undefined
  readonly host?: string | undefined
  readonly path?: string | undefined
  /** The host names that clients may use; required unless the server listens on loopback. Their own pages may send requests. */
  readonly hosts?: readonly string[] | undefined
  /** Origins of other web pages that may send requests and read the replies. */
  readonly cors?: readonly string[] | undefined
  /** Whether clients get sessions at the revisions that have a handshake. */
  readonly sessions?: boolean | undefined
  /** Whether to serve the transport of 2024-11-05 at `/sse` and `/messages`. Only very old clients need it. */
  readonly sse?: boolean | undefined
  /** Whether to serve the envelopes of the 2025-11 developer specification at `/gist`. */
  readonly gist?: boolean | GistOptions | undefined
  /**
   * Whether to believe the `X-Forwarded-For`, `-Host` and `-Proto` headers of proxies: `true` for one proxy before the server, the
   * number of proxies in a row, or a list of their addresses and ranges. By default `false`: these headers are ignored.
   */
  readonly trustProxy?: TrustProxy | undefined
  readonly tls?: TlsOptions | undefined
}

/** Options for the envelopes of the 2025-11 developer specification. */
export interface GistOptions {
  /** How far the version of a client may differ: by one revision, or by one month. */
  readonly cycle?: Cycle | undefined
}

export interface TcpOptions {
  /** The port; 0 picks a free one. */
  readonly port: number
  readonly host?: string | undefined
  readonly tls?: TlsOptions | undefined
  /** Accepts clients without certificates even if other machines can reach the port. */
  readonly insecure?: boolean | undefined
  /** How messages are separated: by line breaks, or by a length of four bytes before each. It must match the clients. */
  readonly framing?: FramingName | undefined
}

/** WebSocket on the HTTP port, where only `path` can differ, or on its own port. */
export interface WsOptions {
  /** Its own port; by default the HTTP port if HTTP is open. */
  readonly port?: number | undefined
  readonly host?: string | undefined
  readonly path?: string | undefined
  /** The host names that clients may use; required unless the server listens on loopback. */
  readonly hosts?: readonly string[] | undefined
  /** Origins of web pages that may connect. */
  readonly cors?: readonly string[] | undefined
  /** Whether to believe proxies, as for HTTP; by default `false`. */
  readonly trustProxy?: TrustProxy | undefined
  readonly tls?: TlsOptions | undefined
}

export interface UnixOptions {
  readonly path: string
  /** The file permissions of the socket; by default only its owner may use it. */
  readonly mode?: number | undefined
  readonly framing?: FramingName | undefined
  /** The scopes of everyone who can use the socket; by default all. */
  readonly scopes?: readonly string[] | undefined
}

export interface StdioOptions {
  /** The scopes of the program that started the server; by default all. */
  readonly scopes?: readonly string[] | undefined
}

export interface ListenOptions {
  readonly stdio?: boolean | StdioOptions | undefined
  readonly http?: boolean | HttpOptions | undefined
  readonly ws?: boolean | WsOptions | undefined
  readonly tcp?: false | TcpOptions | undefined
  /** The path of a socket file. */
  readonly unix?: false | string | UnixOptions | undefined
  /**
   * What happens when an error escapes from user code, such as from a promise that nobody awaits: `report` (the default)
   * counts and logs it and keeps the process alive; `exit` leaves it to Node, which ends the process, and goes before
   * the `report` of other servers.
   */
  readonly onUncaught?: 'report' | 'exit' | undefined
}

/** The options of `app.node()` and `app.fetchWith()`, where a framework owns the listener. */
export type MountOptions = Pick<HttpOptions, 'hosts' | 'cors' | 'sessions' | 'sse' | 'gist' | 'trustProxy'>

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
