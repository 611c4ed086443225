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
import type { TlsOptions } from '../transport/tls/options.ts'
import type { ToolMap } from './types.ts'

/** What a server is called, and how it behaves. */
export interface ServerOptions {
  /** The name under which programs know the server; `id` means the same. */
  readonly name?: string
  readonly id?: string
  readonly version: string
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
  readonly icons?: readonly Icon[]
  /** Hints for the model on how to use the server as a whole. */
  readonly instructions?: string
  /** Tools to begin with, as from `defineTools`. */
  readonly tools?: ToolMap
  /** What `listen()` without options opens; stdio unless said otherwise. */
  readonly transports?: readonly ('stdio' | 'http')[]
  /** Capabilities to declare even before anything that needs them is defined. */
  readonly capabilities?: readonly string[]
  readonly experimental?: JsonObject
  readonly extensions?: JsonObject
  /** Seals what travels through clients; a list also accepts earlier secrets. Without one, `PIERHEAD_SECRET` or a random one. */
  readonly secret?: string | readonly string[]
  /** The revisions to serve; all of them unless said otherwise. */
  readonly revisions?: readonly Revision[]
  /** Habits of the wire other than the official ones, from `pierhead/profiles`. */
  readonly profile?: Profile
  /** How many items a page of a list has. */
  readonly pageSize?: number
  /** How long clients may keep lists and resources. */
  readonly ttl?: Duration
  readonly limits?: 'strict' | Partial<Limits>
  /** Takes what an operator should know; written to stderr unless given. `facts` are plain data: an error is { name, message, stack }. */
  readonly log?: (level: 'warning' | 'error', message: string, facts?: JsonObject) => void
}

export interface HttpOptions {
  readonly port?: number
  readonly host?: string
  readonly path?: string
  /** Hosts under which the server may be called; needed for any bind but loopback. */
  readonly hosts?: readonly string[]
  /** Origins of web pages that may call. */
  readonly cors?: readonly string[]
  /** Whether clients of the revisions with a handshake get sessions. */
  readonly sessions?: boolean
  /** Whether the transport of 2024-11-05 is served too, at `/sse` and `/messages`: only very old clients need it. */
  readonly sse?: boolean
  /** Whether the envelopes of the 2025-11 developer specification are served too, at `/gist`. */
  readonly gist?: boolean | GistOptions
  readonly tls?: TlsOptions
}

/** How the envelopes of the 2025-11 developer specification are served. */
export interface GistOptions {
  /** How far a client's version may be from ours: one step among the revisions, or one month. */
  readonly cycle?: Cycle
}

export interface TcpOptions {
  /** The port; 0 means any. */
  readonly port: number
  readonly host?: string
  readonly tls?: TlsOptions
  /** Lets anybody who can reach the port connect, where that is more than this machine. */
  readonly insecure?: boolean
  /** How messages are told apart: one a line, or each after its length in four bytes; clients must do the same. */
  readonly framing?: FramingName
}

/** WebSocket on the port of HTTP, where only `path` can differ, or on a port of its own. */
export interface WsOptions {
  /** A port of its own; without one, that of HTTP where that is opened too. */
  readonly port?: number
  readonly host?: string
  readonly path?: string
  /** Hosts under which the server may be called; needed for any bind but loopback. */
  readonly hosts?: readonly string[]
  /** Origins of web pages that may connect. */
  readonly cors?: readonly string[]
  readonly tls?: TlsOptions
}

export interface UnixOptions {
  readonly path: string
  /** Who may use the socket, as file permissions; only its owner unless given. */
  readonly mode?: number
  readonly framing?: FramingName
}

export interface ListenOptions {
  readonly stdio?: boolean
  readonly http?: boolean | HttpOptions
  readonly ws?: boolean | WsOptions
  readonly tcp?: false | TcpOptions
  /** The path of a socket file. */
  readonly unix?: false | string | UnixOptions
  /**
   * What happens when an error escapes from user code, such as from a promise that nobody awaits: `report` (the default)
   * counts and logs it and keeps the process alive, `exit` leaves it to Node, which ends the process.
   */
  readonly onUncaught?: 'report' | 'exit'
}

/** What `app.node()` and `app.fetch` take: the framework owns the listener. */
export type MountOptions = Pick<HttpOptions, 'hosts' | 'cors' | 'sessions' | 'sse' | 'gist'>

export const SERVER_OPTIONS: KindsOf<ServerOptions> = {
  name: TEXT,
  id: TEXT,
  version: required(TEXT, 'a server needs a version'),
  title: TEXT,
  description: TEXT,
  websiteUrl: TEXT,
  icons: listOf(object<Icon>()),
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
  limits: either(oneOf('strict'), object<Partial<Limits>>()),
  log: callable<NonNullable<ServerOptions['log']>>(),
}

export const MOUNT_OPTIONS: KindsOf<MountOptions> = {
  hosts: listOf(TEXT),
  cors: listOf(TEXT),
  sessions: FLAG,
  sse: FLAG,
  gist: either(FLAG, object<GistOptions>()),
}

export const GIST_OPTIONS: KindsOf<GistOptions> = { cycle: oneOf('revision', 'month') }

/** Words that the `capabilities` option takes: those of the protocol, and those of the 2025-11 developer specification. */
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
