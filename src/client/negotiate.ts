import { McpError, mcpError } from '../errors/error.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { LATEST, type Revision } from '../protocol/revisions.ts'
import type { Dialects } from '../protocol/switches.ts'
import type { Line, LineEvents, OpenLine } from '../rpc/client-transport.ts'
import { openResult } from '../wire/2026-07-28/decode.ts'
import { agreed, exchange } from './first-exchange.ts'
import { NEWEST, type Forms } from './forms.ts'
import type { Sender } from './encode-call.ts'
import type { Verdict } from './opening-mode.ts'

/** What client and server agreed on. */
export interface Agreement {
  readonly revision: Revision
  readonly forms: Forms
  readonly server: JsonObject | undefined
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
}

export interface NegotiateOptions {
  readonly open: OpenLine
  readonly events: LineEvents
  readonly sender: () => Sender
  /** A revision to insist on; otherwise it is found out. */
  readonly revision: Revision | undefined
  /** How a profile speaks each revision. */
  readonly dialects?: Dialects | undefined
  /** How the server opened last time. */
  readonly remembered: Verdict | undefined
  readonly timeoutMs: number
  /** How long a server may stay silent before it counts as one that does not know the newest revision. */
  readonly probeMs: number
  /** Aborts when nobody wants the connection any more. */
  readonly signal: AbortSignal
  nextId(): number
}

/** A line, and what was agreed on it. */
export interface Opened {
  readonly line: Line
  readonly agreement: Agreement
  readonly verdict: Verdict
}

/** Opens a line and agrees on a revision: the newest when the server knows it, otherwise by a handshake. */
export async function negotiate(options: NegotiateOptions): Promise<Opened> {
  const { revision, remembered } = options
  let down: Error | undefined
  const line = await options.open(watched(options.events, (reason) => (down = reason)))
  const standing = (opened: Opened): Opened => {
    if (down !== undefined) throw down
    return opened
  }
  const newest = (agreement: Agreement): Opened => standing({ line, agreement, verdict: 'request' })
  try {
    if (revision === LATEST) return newest(await discover(line, options, options.timeoutMs))
    if (revision === undefined && (remembered ?? 'request') === 'request') {
      const agreement = await probe(line, options).catch((error: unknown) => {
        if (down === undefined || options.signal.aborted) throw error
        return undefined
      })
      if (agreement !== undefined) return newest(agreement)
    }
    if (down === undefined) {
      const { shakeHands } = await import('./handshake.ts')
      return standing(await shakeHands(line, options))
    }
  } catch (error) {
    await line.close()
    throw error
  }
  // Some servers do not survive a first request they do not know: begin again with the one they do.
  await line.close()
  return negotiate({ ...options, remembered: 'handshake' })
}

/** Asks what the server is; undefined means that it does not know the newest revision. */
async function probe(line: Line, options: NegotiateOptions): Promise<Agreement | undefined> {
  try {
    return await discover(line, options, options.probeMs)
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

async function discover(line: Line, options: NegotiateOptions, timeoutMs: number): Promise<Agreement> {
  const ask = (): Promise<JsonObject> =>
    exchange(line, 'server/discover', {}, { revision: LATEST, forms: NEWEST }, { ...options, timeoutMs })
  const sealed = await ask().catch((error: unknown) => {
    if (!isListedAllTheSame(error)) throw error
    return ask()
  })
  const result = openResult(sealed)
  const versions = result['supportedVersions'] as readonly unknown[]
  if (!versions.includes(LATEST))
    throw mcpError('unknown_method', { method: 'server/discover', revision: LATEST })
  line.agree(LATEST)
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

/** The same events, and a word when the line goes down while we negotiate. */
function watched(events: LineEvents, onDown: (reason: Error) => void): LineEvents {
  return {
    ...events,
    onMessage: (message) => events.onMessage(message),
    onDown(reason) {
      onDown(reason)
      events.onDown(reason)
    },
  }
}
