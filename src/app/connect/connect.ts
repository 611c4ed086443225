import { fetchOver, platformFetch } from '#fetch'
import type { Some } from '../../base/some.ts'
import { Client } from '../../client/client.ts'
import { declarationOf, EXTENSIONS, type DeclaredExtension } from '../../client/declared.ts'
import type { Answers } from '../../client/answers.ts'
import { readRecovery, type RecoveryOptions } from '../../client/recovery-options.ts'
import type { ClientSettings } from '../../client/settings.ts'
import { isCommand, isLocal, isTarget, urlOf, type Target, type UrlTarget } from '../../client/target.ts'
import type { AnyTools } from '../../client/typed.ts'
import { readLimits } from '../../base/limits.ts'
import { CLIENT_LIMITS, type ClientLimits } from '../../protocol/client-limits.ts'
import { toMs, type Duration } from '../../base/duration.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import {
  callable,
  COUNT,
  DURATION,
  either,
  FLAG,
  object,
  OFF,
  oneOf,
  type KindsOf,
} from '../../base/kinds.ts'
import { badOption, checkOptions } from '../../base/options.ts'
import { REVISIONS, type Revision } from '../../protocol/revisions.ts'
import { PROFILE } from '../../profiles/kind.ts'
import type { Profile } from '../../profiles/profile.ts'
import { CLIENT_AUTH, type ClientAuth } from '../../rpc/client-auth.ts'
import type { OpenTransport } from '../../rpc/client-transport.ts'
import { loginsOf, type AuthOwner } from '../../rpc/logins.ts'
import type { HeaderRecord } from '../../transport/http/client/headers.ts'
import { connectHttp, type HttpConnectOptions } from '../../transport/http/client/client.ts'
import { FRAMING, type FramingName } from '../../transport/lines/framing-name.ts'
import type { ClientKeys } from '../../rpc/client-keys.ts'
import type { ClientTls } from '../../transport/tls/options.ts'

/**
 * Options of `connect` and `createClient`. One that has no effect for the target is rejected, so that nobody relies on it.
 *
 * @example
 * await connect(url, { headers: { authorization: `Bearer ${token}` }, timeout: '20s', recovery: { tries: 3 } })
 */
export interface ConnectOptions {
  /** The `name`, `version` and, for people, `title` that the client sends to servers. Default: those of this package. */
  readonly client?:
    | { readonly name: string; readonly version: string; readonly title?: string | undefined }
    | undefined
  /** The only revision to accept. Default: the newest that the server knows. */
  readonly revision?: Revision | undefined
  /** Adapts the messages to implementations that differ from the official one; see `pierhead/profiles`. Default: official. */
  readonly profile?: Profile | undefined
  /** Answers the questions of the server. Default: none, so it does not ask. `client.answer` replaces them later. */
  readonly answers?: Answers | undefined
  /** Extensions to use if the server has them too. Default: none. */
  readonly extensions?: readonly DeclaredExtension[] | undefined
  /**
   * How long a request waits without a response or progress before it fails, and each step of connecting. Default: 60 s, unless
   * `profile` says otherwise. Opening a WebSocket takes at most 30 s, and TCP 10 s. Each call may set its own.
   */
  readonly timeout?: Duration | undefined
  /** The longest time that a request may take, with all its retries and questions, and connecting with all its steps. Default: 5 min. Each call may set its own. */
  readonly total?: Duration | undefined
  /**
   * How long to wait for a server program to answer the first request of the newest revision, which older programs may
   * ignore, before the handshake is sent too. A program that starts more slowly still gets the newest revision, but may be started
   * twice. Default: 3 s, or `timeout` if that is shorter. Over HTTP, where every request is answered, it is `timeout`.
   */
  readonly probe?: Duration | undefined
  /**
   * Headers for every HTTP request, or for the opening request of a WebSocket, except in browsers. Default: none. The client
   * sets `mcp-…`, `accept` and `content-type` itself.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Authenticates over HTTP and WebSocket, and again when the server no longer accepts the credentials: `browser`, `token` or another
   * method of `pierhead/auth/client`. Default: none, so a server that asks for a login causes an error. A server program takes its
   * credentials from `env` instead.
   *
   * @example
   * import { browser } from 'pierhead/auth/client'
   * await connect('https://example.com/mcp', { auth: browser() })
   */
  readonly auth?: ClientAuth | undefined
  /** Sends the HTTP requests, for example through a proxy. Default: the `fetch` of the platform. */
  readonly fetch?: typeof fetch | undefined
  /**
   * How much a server may send, and how often the client reconnects: single limits, or `'strict'` for all. Default: the values
   * in the reference page on limits, such as 16 MiB for one message (`clientBytes`).
   */
  readonly limits?: 'strict' | Some<ClientLimits> | undefined
  /** How to retry requests after temporary errors. Default: up to 5 attempts. `false` turns retries off. */
  readonly recovery?: RecoveryOptions | false | undefined
  /** Whether to check arguments against the schema of a listed tool before they are sent. Default: `false`. The server checks them in any case. */
  readonly checkInput?: boolean | undefined
  /**
   * Which environment variables a server program inherits: `none`, `safe` or `all`. Default: `safe`, which is `PATH`, `HOME`, `USER`,
   * `LANG`, `LC_*`, `TZ`, `TMPDIR` and others without secrets. The `env` of the target is added to them.
   */
  readonly inherit?: 'none' | 'safe' | 'all' | undefined
  /**
   * The key pair that the client proves to a server program, and that of the server. Default: none, for servers that do not ask for
   * keys.
   */
  readonly keys?: ClientKeys | undefined
  /**
   * TLS for `https://`, `wss://` and `tls://`, in Node: which servers to trust, and the certificate of the client. Default: the authorities
   * of the platform, and no certificate. Over HTTPS it cannot be combined with `fetch`.
   */
  readonly tls?: ClientTls | undefined
  /** How long a TCP, Unix or WebSocket connection may be silent before the client pings the server. Default: 30 s. `false` turns this off. */
  readonly heartbeat?: Duration | false | undefined
  /** The largest number of TCP or Unix connections to a server of 2026-07-28, which are used in turn. Default: 1. */
  readonly connections?: number | undefined
  /** How TCP and Unix sockets separate messages. Default: `lines`. It must match the server. */
  readonly framing?: FramingName | undefined
}

/** The options of `connect`. */
/** What to write instead of options of other libraries. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([['token', 'write auth: token(() => …)']])

export const CONNECT_OPTIONS: KindsOf<ConnectOptions> = {
  client: {
    must: 'an object: { name, version }',
    is: (value) => typeof (value as JsonObject | null)?.['name'] === 'string',
  },
  revision: oneOf(...REVISIONS),
  profile: PROFILE,
  answers: object<Answers>(),
  extensions: EXTENSIONS,
  timeout: DURATION,
  total: DURATION,
  probe: DURATION,
  headers: object<HeaderRecord>('an object: header values by name'),
  auth: CLIENT_AUTH,
  fetch: callable<typeof fetch>(),
  limits: either(oneOf('strict'), object<Some<ClientLimits>>()),
  recovery: either(OFF, object<RecoveryOptions>()),
  checkInput: FLAG,
  inherit: oneOf('none', 'safe', 'all'),
  keys: object<ClientKeys>(),
  tls: object<ClientTls>(),
  heartbeat: either(DURATION, OFF),
  connections: COUNT,
  framing: FRAMING,
}
const PROBE_MS = 3000
const SELF = { name: 'pierhead', version: '0.1.0' }

/**
 * Connects to a server: a URL, a program to start, a server in this process, or an entry of an `mcp.json` file. The client
 * knows the tools of a server in this process, and those of `connect<typeof app>(…)` or `connect<typeof tools>(…)`. Rejects if the
 * server cannot be reached; later the client reconnects by itself.
 *
 * @example
 * const client = await connect('https://example.com/mcp')
 * const local = await connect({ command: 'node', args: ['server.js'] })
 * const typed = await connect<typeof app>('http://localhost:3000/mcp')
 */
export async function connect<Tools = AnyTools>(
  target: Target<Tools>,
  options: ConnectOptions = {},
): Promise<Client<Tools>> {
  if (!isTarget(target as Target)) throw (await import('../../client/no-target.ts')).noTarget(target)
  return createClient<Tools>(target, options).open()
}

/** Creates a client that connects with its first request. Unlike `connect`, it does not fail if the server is not there yet. */
export function createClient<Tools = AnyTools>(
  target: Target<Tools>,
  options: ConnectOptions = {},
): Client<Tools> {
  checkOptions('connect', options, CONNECT_OPTIONS, ELSEWHERE)
  const limits = readLimits(CLIENT_LIMITS, options.limits)
  const { timeouts } = options.profile ?? {}
  const idleMs = toMs(options.timeout ?? timeouts?.idleMs ?? '60s', 'connect timeout')
  const totalMs = toMs(options.total ?? '5m', 'connect total')
  const openMs = (options.timeout === undefined && timeouts?.openMs) || idleMs
  const more = { limits, openMs: Math.min(openMs, totalMs) }
  const route = routeTo(target as Target, options, more)
  const settings: ClientSettings = {
    ...route,
    client: (options.client ?? SELF) as JsonObject,
    revision: options.revision,
    dialects: options.profile?.spoken,
    openMs,
    idleMs,
    totalMs,
    probeMs: toMs(
      options.probe ?? (route.paramHeaders ? idleMs : Math.min(idleMs, PROBE_MS)),
      'connect probe',
    ),
    checks: options.checkInput ?? false,
    limits,
    maxId: limits.clientIds,
    idLength: limits.idLength,
    maxPages: limits.pages,
    maxQuestions: limits.clientQuestions,
    backoff: { firstMs: limits.reconnectFirstMs, maxMs: limits.reconnectMaxMs },
    recovery: readRecovery(options.recovery),
    answers: options.answers ?? {},
    extensions: declarationOf(options.extensions),
  }
  return new Client<Tools>(settings)
}

interface RouteOptions {
  readonly limits: ClientLimits
  /** How long opening a connection may take. */
  readonly openMs: number
}

type Route = Pick<ClientSettings, 'open' | 'key' | 'paramHeaders' | 'logins'>

function routeTo(target: Target, options: ConnectOptions, more: RouteOptions): Route {
  const { limits } = more
  if (!isTarget(target)) throw badOption('connect', 'pass a URL, { command, args } or a server')
  if (isLocal(target) || isCommand(target)) {
    const key = isCommand(target)
      ? JSON.stringify([target.command, target.args ?? [], target.cwd ?? ''])
      : undefined
    const open: OpenTransport = async (events) => {
      const { openLocalTransport } = await import('./local.ts')
      return (await openLocalTransport(target, options, limits))(events)
    }
    return { open, key, paramHeaders: false }
  }
  const url = urlOf(target) as URL
  const { headers, auth } = typeof target === 'object' && 'url' in target ? target : ({} as UrlTarget)
  const all = { ...options, headers: { ...headers, ...options.headers }, auth: options.auth ?? auth }
  checkOptions('connect', all, CONNECT_OPTIONS)
  return routeToUrl(url, all, more)
}

/** Only the code for HTTP is loaded up front; the other transports are loaded when they are used. */
function routeToUrl(url: URL, options: ConnectOptions, { limits, openMs }: RouteOptions): Route {
  const { headers = {}, auth, fetch, tls, framing, connections, heartbeat, inherit, keys } = options
  const ownFetch = tls && url.protocol === 'https:' ? fetchOver?.(url, tls) : undefined
  const owner: AuthOwner = { url, auth, fetch, ownFetch }
  const more = { key: url.href, logins: auth && loginsOf(owner, auth) }
  // The socket transports also reject options that HTTP does not have.
  if (
    !url.protocol.startsWith('http') ||
    (tls !== undefined && (ownFetch === undefined || fetch !== undefined)) ||
    (framing ?? connections ?? heartbeat ?? inherit ?? keys) !== undefined
  ) {
    const open: OpenTransport = async (events) => {
      const { openSocketTransport } = await import('./sockets.ts')
      return (await openSocketTransport(url, options, { owner, limits, openMs }))(events)
    }
    return { open, ...more, paramHeaders: false }
  }
  const wrapFetch = options.profile?.wrapFetch
  const sent = ownFetch ?? fetch
  const settings = {
    headers,
    owner,
    limits,
    openOlder,
    reconnect: {
      firstMs: limits.reconnectFirstMs,
      maxMs: limits.reconnectMaxMs,
      floorMs: limits.reconnectFloorMs,
    },
    fetch: wrapFetch === undefined ? sent : wrapFetch(sent ?? platformFetch),
  }
  return { open: connectHttp(url, settings), ...more, paramHeaders: true }
}

/** The transport of 2024-11-05, loaded only for servers without a newer one. */
const openOlder: NonNullable<HttpConnectOptions['openOlder']> = async (parts, options) => {
  const { openSse } = await import('../../transport/sse/client.ts')
  return openSse(parts, options)
}
