import { Client, type ClientSettings } from './client/client.ts'
import type { Answers } from './client/answers.ts'
import { isCommand, isLocal, isTarget, urlOf, type Target } from './client/target.ts'
import type { AnyTools } from './client/typed.ts'
import { CLIENT_LIMITS, readLimits, type ClientLimits } from './protocol/client-limits.ts'
import { toMs, type Duration } from './protocol/duration.ts'
import { mcpError } from './protocol/errors.ts'
import type { JsonObject } from './protocol/jsonrpc.ts'
import { checkOptions } from './protocol/nearest.ts'
import { isRevision, REVISIONS, type Revision } from './protocol/revisions.ts'
import type { OpenLine } from './rpc/line.ts'
import { connectHttp } from './transport/http/connect.ts'
import type { FramingName } from './transport/lines/framing.ts'
import type { ClientTls } from './transport/tcp/tls-options.ts'

export interface ConnectOptions {
  /** What the client calls itself. */
  readonly client?: { readonly name: string; readonly version: string; readonly title?: string }
  /** A revision to insist on; without, the newest that the server knows. */
  readonly revision?: Revision
  /** How questions of the server are answered. */
  readonly answers?: Answers
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
  /** How messages on a TCP or Unix socket are told apart, which must be what the server does; by lines unless given. */
  readonly framing?: FramingName
}

const OPTIONS = [
  'client',
  'revision',
  'answers',
  'timeout',
  'total',
  'probe',
  'headers',
  'fetch',
  'limits',
  'checkInput',
  'inherit',
  'tls',
  'heartbeat',
  'connections',
  'framing',
]
const PROBE_MS = 3000
const SELF = { name: 'pierhead', version: '0.1.0' }

/** Connects to a server: a URL, a program to start, a server in this process, or an entry of an `mcp.json` file. */
export async function connect<Tools = AnyTools>(
  target: Target,
  options: ConnectOptions = {},
): Promise<Client<Tools>> {
  if (!isTarget(target)) throw (await import('./client/no-target.ts')).noTarget(target)
  return createClient<Tools>(target, options).open()
}

/** A client that connects with its first request. */
export function createClient<Tools = AnyTools>(target: Target, options: ConnectOptions = {}): Client<Tools> {
  checkOptions('connect', options, OPTIONS)
  if (options.revision !== undefined && !isRevision(options.revision)) {
    const reason = `"${String(options.revision)}" is none of ${REVISIONS.join(', ')}`
    throw mcpError('bad_option', { where: 'connect revision', reason })
  }
  const limits = readLimits(CLIENT_LIMITS, options.limits)
  const { open, key, mirrors } = wayTo(target, options, limits)
  const idleMs = toMs(options.timeout ?? '60s', 'connect timeout')
  const settings: ClientSettings = {
    open,
    key,
    mirrors,
    client: (options.client ?? SELF) as JsonObject,
    revision: options.revision,
    idleMs,
    totalMs: toMs(options.total ?? '5m', 'connect total'),
    probeMs: toMs(options.probe ?? (mirrors ? idleMs : Math.min(idleMs, PROBE_MS)), 'connect probe'),
    checks: options.checkInput ?? false,
    maxId: limits.clientIds,
    maxPages: limits.pages,
    pace: { firstMs: limits.reconnectFirstMs, maxMs: limits.reconnectMaxMs },
    answers: options.answers ?? {},
  }
  return new Client<Tools>(settings)
}

interface Way {
  readonly open: OpenLine
  readonly key: string | undefined
  readonly mirrors: boolean
}

function wayTo(target: Target, options: ConnectOptions, limits: ClientLimits): Way {
  if (!isTarget(target))
    throw mcpError('bad_option', { where: 'connect', reason: 'name a URL, { command, args } or a server' })
  if (isLocal(target)) {
    const open: OpenLine = async (events) => {
      const { connectMemory } = await import('./transport/memory/connect.ts')
      return connectMemory(target, { limits })(events)
    }
    return { open, key: undefined, mirrors: false }
  }
  if (isCommand(target)) {
    const { inherit = 'safe' } = options
    const key = JSON.stringify([target.command, target.args ?? [], target.cwd ?? ''])
    const open: OpenLine = async (events) => {
      const { connectStdio } = await import('#stdio')
      return connectStdio({ ...target, inherit, limits })(events)
    }
    return { open, key, mirrors: false }
  }
  const url = urlOf(target) as URL
  const own = typeof target === 'object' && 'headers' in target ? target.headers : {}
  return wayToUrl(url, { ...options, headers: { ...own, ...options.headers } }, limits)
}

/** The way to a URL; all but HTTP stay connected, and are loaded when one is asked for. */
function wayToUrl(url: URL, options: ConnectOptions, limits: ClientLimits): Way {
  if (!url.protocol.startsWith('http')) {
    const open: OpenLine = async (events) => {
      const { dial } = await import('./dial.ts')
      return (await dial(url, options, limits))(events)
    }
    return { open, key: url.href, mirrors: false }
  }
  const { headers = {}, fetch } = options
  const settings = {
    headers,
    limits,
    reconnect: {
      firstMs: limits.reconnectFirstMs,
      maxMs: limits.reconnectMaxMs,
      floorMs: limits.reconnectFloorMs,
    },
    ...(fetch === undefined ? {} : { fetch }),
  }
  return { open: connectHttp(url, settings), key: url.href, mirrors: true }
}
