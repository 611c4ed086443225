import { McpError, mcpError } from '../errors/error.ts'
import { UNKNOWN_METHOD } from '../errors/rpc.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { LATEST, type Revision } from '../protocol/revisions.ts'
import type { Dialects } from '../protocol/switches.ts'
import type { ClientTransport, TransportEvents, OpenTransport } from '../rpc/client-transport.ts'
import { decodeResult } from '../wire/2026-07-28/decode.ts'
import { agreed, exchange } from './first-exchange.ts'
import { NEWEST, type Forms } from './forms.ts'
import type { Sender } from './encode-call.ts'
import type { OpeningMode } from './opening-mode.ts'

/** What client and server agreed on. */
export interface Agreement {
  readonly revision: Revision
  readonly forms: Forms
  readonly server: JsonObject | undefined
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
}

export interface NegotiateOptions {
  readonly open: OpenTransport
  readonly events: TransportEvents
  readonly sender: () => Sender
  /** A revision to insist on; otherwise it is found out. */
  readonly revision: Revision | undefined
  /** How a profile speaks each revision. */
  readonly dialects?: Dialects | undefined
  /** How the server opened last time. */
  readonly remembered: OpeningMode | undefined
  readonly timeoutMs: number
  /** How long a server may stay silent before it counts as one that does not know the newest revision. */
  readonly probeMs: number
  /** Aborts when nobody wants the connection any more. */
  readonly signal: AbortSignal
  nextId(): number
}

/** A connection, and what was agreed on it. */
export interface Opened {
  readonly transport: ClientTransport
  readonly agreement: Agreement
  readonly mode: OpeningMode
}

/** Opens a connection and agrees on a revision: the newest when the server knows it, otherwise by a handshake. */
export async function negotiate(options: NegotiateOptions): Promise<Opened> {
  const { revision, remembered } = options
  let down: Error | undefined
  const transport = await options.open(watched(options.events, (reason) => (down = reason)))
  const standing = (opened: Opened): Opened => {
    if (down !== undefined) throw down
    return opened
  }
  const newest = (agreement: Agreement): Opened => standing({ transport, agreement, mode: 'request' })
  try {
    if (revision === LATEST) return newest(await discover(transport, options, options.timeoutMs))
    if (revision === undefined && (remembered ?? 'request') === 'request') {
      const agreement = await probe(transport, options).catch((error: unknown) => {
        if (down === undefined || options.signal.aborted) throw error
        return undefined
      })
      if (agreement !== undefined) return newest(agreement)
    }
    if (down === undefined) {
      const { shakeHands } = await import('./handshake.ts')
      return standing(await shakeHands(transport, options))
    }
  } catch (error) {
    await transport.close()
    throw error
  }
  // Some servers do not survive a first request they do not know: begin again with the one they do.
  await transport.close()
  return negotiate({ ...options, remembered: 'handshake' })
}

/** Asks what the server is; undefined means that it does not know the newest revision. */
async function probe(transport: ClientTransport, options: NegotiateOptions): Promise<Agreement | undefined> {
  try {
    return await discover(transport, options, options.probeMs)
  } catch (error) {
    if (!(error instanceof McpError) || options.signal.aborted) throw error
    if (error.kind === 'timeout' && options.probeMs >= options.timeoutMs) throw error
    if (error.kind === 'http_failed' || error.kind === 'connect_failed' || error.kind === 'no_revision') {
      const { status, opaque } = error.data ?? {}
      // A browser hides why a server did not let it ask; the headers of the newest revision may be the reason.
      if (!MISUNDERSTOOD.has(status) && opaque !== true) throw error
    }
    return undefined
  }
}

/** The statuses with which servers refuse what they do not understand. */
const MISUNDERSTOOD: ReadonlySet<unknown> = new Set([400, 404, 405])

/** Whether a server refused a handshake as one may that knows none any more. */
export function mayForget(error: unknown): boolean {
  if (!(error instanceof McpError) || UNHEARD.has(error.kind)) return false
  return error.kind !== 'http_failed' || MISUNDERSTOOD.has(error.data?.['status'])
}

/** Failures that are no word of the server. */
const UNHEARD: ReadonlySet<string> = new Set([
  'timeout',
  'connect_failed',
  'connection_closed',
  'stream_lost',
  'session_lost',
  'closed',
  'bad_option',
])

async function discover(
  transport: ClientTransport,
  options: NegotiateOptions,
  timeoutMs: number,
): Promise<Agreement> {
  const ask = (): Promise<JsonObject> =>
    exchange(transport, 'server/discover', {}, { revision: LATEST, forms: NEWEST }, { ...options, timeoutMs })
  const sealed = await ask().catch((error: unknown) => {
    if (!isListedAllTheSame(error)) throw error
    return ask()
  })
  const result = decodeResult(sealed)
  const versions = result['supportedVersions'] as readonly unknown[]
  if (!versions.includes(LATEST))
    throw mcpError(UNKNOWN_METHOD, { method: 'server/discover', revision: LATEST })
  transport.agree(LATEST)
  return agreed({ revision: LATEST, forms: NEWEST }, serverOf(sealed), result)
}

/** Who answered, which this revision says in `_meta`. */
function serverOf({ _meta: meta }: JsonObject): JsonObject | undefined {
  const info = (meta as JsonObject | null | undefined)?.[META.serverInfo]
  return typeof info === 'object' && info !== null && !Array.isArray(info) ? (info as JsonObject) : undefined
}

/** Whether a server refused the newest revision and named it among those it speaks: then it is asked once more. */
function isListedAllTheSame(error: unknown): boolean {
  if (!(error instanceof McpError) || error.kind !== 'revision_unsupported') return false
  const supported = error.data?.['supported']
  return Array.isArray(supported) && supported.includes(LATEST)
}

/** The same events, and a word when the connection goes down while we negotiate. */
function watched(events: TransportEvents, onDown: (reason: Error) => void): TransportEvents {
  return {
    ...events,
    onMessage: (message) => events.onMessage(message),
    onDown(reason) {
      onDown(reason)
      events.onDown(reason)
    },
  }
}
