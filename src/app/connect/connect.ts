import { Client, type ClientSettings } from '../../client/client.ts'
import { declarationOf, EXTENSIONS, type DeclaredExtension } from '../../client/declared.ts'
import type { Answers } from '../../client/answers.ts'
import { readRecovery, type RecoveryOptions } from '../../client/recovery-options.ts'
import { isCommand, isLocal, isTarget, urlOf, type Target } from '../../client/target.ts'
import type { AnyTools } from '../../client/typed.ts'
import { readLimits } from '../../base/limits.ts'
import { CLIENT_LIMITS, type ClientLimits } from '../../protocol/client-limits.ts'
import { toMs, type Duration } from '../../base/duration.ts'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
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
import { checkOptions } from '../../base/options.ts'
import { REVISIONS, type Revision } from '../../protocol/revisions.ts'
import { PROFILE } from '../../profiles/kind.ts'
import type { Profile } from '../../profiles/profile.ts'
import type { OpenTransport } from '../../rpc/client-transport.ts'
import { readCallerHeaders, type HeaderRecord } from '../../transport/http/client/headers.ts'
import { connectHttp, type HttpConnectOptions } from '../../transport/http/client/client.ts'
import { FRAMING, type FramingName } from '../../transport/lines/framing-name.ts'
import type { ClientTls } from '../../transport/tls/options.ts'

export interface ConnectOptions {
  /** What the client calls itself. */
  readonly client?: { readonly name: string; readonly version: string; readonly title?: string }
  /** A revision to insist on; without, the newest that the server knows. */
  readonly revision?: Revision
  /** Habits of the wire other than the official ones, from `pierhead/profiles`. */
  readonly profile?: Profile
  /** How questions of the server are answered. */
  readonly answers?: Answers
  /** Extensions to use, where the server has them too. */
  readonly extensions?: readonly DeclaredExtension[]
  /** Silence that ends a request; progress begins it anew. */
  readonly timeout?: Duration
  /** The longest that a request may take. */
  readonly total?: Duration
  /** How long to wait for a server program to say whether it knows the newest revision; one at a URL always says something. */
  readonly probe?: Duration
  /** HTTP headers for every request. */
  readonly headers?: Readonly<Record<string, string>>
  readonly fetch?: typeof fetch
  readonly limits?: 'strict' | Partial<ClientLimits>
  /** How requests are sent again that a server refused for now; false gives every refusal back at once. */
  readonly recovery?: RecoveryOptions | false
  /** Called when a server does not take the credentials any more; gives the headers that bring new ones, used from then on. */
  readonly reauthenticate?: () => HeaderRecord | Promise<HeaderRecord>
  /** Checks arguments against the schema of a tool that was listed before they are sent; the server checks them in any case. */
  readonly checkInput?: boolean
  /** What the environment of a server program begins with. */
  readonly inherit?: 'none' | 'safe' | 'all'
  /** Whom to trust, and how to prove who we are, over TLS on TCP and WebSocket. */
  readonly tls?: ClientTls
  /** Silence on a TCP, Unix or WebSocket connection after which the server is asked whether it is still there; false never asks. */
  readonly heartbeat?: Duration | false
  /** How many TCP or Unix connections to use in turn at most, with a server of 2026-07-28. */
  readonly connections?: number
  /** How messages on a TCP or Unix socket are told apart, which must be what the server does; by connections unless given. */
  readonly framing?: FramingName
}

const OPTIONS: KindsOf<ConnectOptions> = {
  client: object<NonNullable<ConnectOptions['client']>>('an object: { name, version }'),
  revision: oneOf(...REVISIONS),
  profile: PROFILE,
  answers: object<Answers>(),
  extensions: EXTENSIONS,
  timeout: DURATION,
  total: DURATION,
  probe: DURATION,
  headers: object<HeaderRecord>('an object: header values by name'),
  fetch: callable<typeof fetch>(),
  limits: either(oneOf('strict'), object<Partial<ClientLimits>>()),
  recovery: either(OFF, object<RecoveryOptions>()),
  reauthenticate: callable<NonNullable<ConnectOptions['reauthenticate']>>(),
  checkInput: FLAG,
  inherit: oneOf('none', 'safe', 'all'),
  tls: object<ClientTls>(),
  heartbeat: either(DURATION, OFF),
  connections: COUNT,
  framing: FRAMING,
}
const PROBE_MS = 3000
const SELF = { name: 'pierhead', version: '0.1.0' }

/** Connects to a server: a URL, a program to start, a server in this process, or an entry of an `mcp.json` file. */
export async function connect<Tools = AnyTools>(
  target: Target,
  options: ConnectOptions = {},
): Promise<Client<Tools>> {
  if (!isTarget(target)) throw (await import('../../client/no-target.ts')).noTarget(target)
  return createClient<Tools>(target, options).open()
}

/** A client that connects with its first request. */
export function createClient<Tools = AnyTools>(target: Target, options: ConnectOptions = {}): Client<Tools> {
  checkOptions('connect', options, OPTIONS)
  const limits = readLimits(CLIENT_LIMITS, options.limits)
  const credentials = readCredentials(options)
  const { open, key, mirrors } = wayTo(target, options, { limits, credentials })
  const { profile } = options
  const idleMs = toMs(options.timeout ?? profile?.timeouts?.idleMs ?? '60s', 'connect timeout')
  const settings: ClientSettings = {
    open,
    key,
    mirrors,
    client: (options.client ?? SELF) as JsonObject,
    revision: options.revision,
    dialects: profile?.spoken,
    openMs: options.timeout === undefined ? profile?.timeouts?.openMs : undefined,
    idleMs,
    totalMs: toMs(options.total ?? '5m', 'connect total'),
    probeMs: toMs(options.probe ?? (mirrors ? idleMs : Math.min(idleMs, PROBE_MS)), 'connect probe'),
    checks: options.checkInput ?? false,
    maxId: limits.clientIds,
    maxPages: limits.pages,
    pace: { firstMs: limits.reconnectFirstMs, maxMs: limits.reconnectMaxMs },
    recovery: readRecovery(options.recovery),
    reauthenticate: credentials?.renew,
    answers: options.answers ?? {},
    extensions: declarationOf(options.extensions),
  }
  return new Client<Tools>(settings)
}

/** Headers that change when a server does not take the old ones any more. */
interface Credentials {
  headers: HeaderRecord
  renew(): Promise<void>
}

function readCredentials({ reauthenticate }: ConnectOptions): Credentials | undefined {
  if (reauthenticate === undefined) return undefined
  const credentials: Credentials = {
    headers: {},
    async renew() {
      credentials.headers = readCallerHeaders(await reauthenticate())
    },
  }
  return credentials
}

interface WayOptions {
  readonly limits: ClientLimits
  readonly credentials: Credentials | undefined
}

interface Way {
  readonly open: OpenTransport
  readonly key: string | undefined
  readonly mirrors: boolean
}

function wayTo(target: Target, options: ConnectOptions, more: WayOptions): Way {
  const { limits } = more
  if (!isTarget(target))
    throw mcpError(BAD_OPTION, { where: 'connect', reason: 'name a URL, { command, args } or a server' })
  if (isLocal(target)) {
    const open: OpenTransport = async (events) => {
      const { connectMemory } = await import('../../transport/memory/client.ts')
      return connectMemory(target, { limits })(events)
    }
    return { open, key: undefined, mirrors: false }
  }
  if (isCommand(target)) {
    const { inherit = 'safe' } = options
    const key = JSON.stringify([target.command, target.args ?? [], target.cwd ?? ''])
    const open: OpenTransport = async (events) => {
      const { connectStdio } = await import('#stdio')
      return connectStdio({ ...target, inherit, limits })(events)
    }
    return { open, key, mirrors: false }
  }
  const url = urlOf(target) as URL
  const own = typeof target === 'object' && 'headers' in target ? target.headers : {}
  return wayToUrl(url, { ...options, headers: { ...own, ...options.headers } }, more)
}

/** The way to a URL; all but HTTP stay connected, and are loaded when one is asked for. */
function wayToUrl(url: URL, options: ConnectOptions, { limits, credentials }: WayOptions): Way {
  const { headers = {}, fetch } = options
  const wrapFetch = options.profile?.wrapFetch
  const current = (): HeaderRecord => readCallerHeaders({ ...headers, ...credentials?.headers })
  // What HTTP does not have is refused there too.
  if (!url.protocol.startsWith('http') || (options.tls ?? options.framing) !== undefined) {
    const open: OpenTransport = async (events) => {
      const { openSocketTransport } = await import('./sockets.ts')
      const sent = credentials === undefined ? headers : current()
      return (await openSocketTransport(url, { ...options, headers: sent }, limits))(events)
    }
    return { open, key: url.href, mirrors: false }
  }
  const settings = {
    headers: credentials === undefined ? headers : current,
    limits,
    openOlder,
    reconnect: {
      firstMs: limits.reconnectFirstMs,
      maxMs: limits.reconnectMaxMs,
      floorMs: limits.reconnectFloorMs,
    },
    ...(fetch === undefined ? {} : { fetch }),
    ...(wrapFetch !== undefined && { fetch: wrapFetch(fetch ?? globalThis.fetch) }),
  }
  return { open: connectHttp(url, settings), key: url.href, mirrors: true }
}

/** The transport of 2024-11-05; loaded for servers that speak nothing else. */
const openOlder: NonNullable<HttpConnectOptions['openOlder']> = async (parts, options) => {
  const { openSse } = await import('../../transport/sse/client.ts')
  return openSse(parts, options)
}
