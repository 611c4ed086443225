import { McpError, mcpError } from '../errors/error.ts'
import { UNKNOWN_METHOD } from '../errors/rpc.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { LATEST, type Revision } from '../protocol/revisions.ts'
import type { Dialects } from '../protocol/switches.ts'
import type { ClientTransport, TransportEvents, OpenTransport } from '../rpc/client-transport.ts'
import { exchange, toAgreement } from './first-exchange.ts'
import { NEWEST, type Forms } from './forms.ts'
import type { Sender } from './encode-call.ts'
import type { OpeningMode } from './opening-mode.ts'
import type { Questions } from './questions.ts'

/** The revision and capabilities that client and server agreed on. */
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
  /** The only revision to accept. Default: it is negotiated. */
  readonly revision: Revision | undefined
  /** The dialects of a profile. */
  readonly dialects?: Dialects | undefined
  /** The mode that worked last time. */
  readonly remembered: OpeningMode | undefined
  readonly timeoutMs: number
  /** How long to wait for `server/discover` before assuming that the server does not know the newest revision. */
  readonly probeMs: number
  /** Aborts when the connection is no longer needed. */
  readonly signal: AbortSignal
  nextId(): number
}

/** A connection and its agreement. */
export interface Opened {
  readonly transport: ClientTransport
  readonly agreement: Agreement
  readonly mode: OpeningMode
  /** Answers requests of the server, which only those with a handshake may send. */
  readonly Questions?: typeof Questions
}

/** Opens a connection and agrees on a revision: the newest if the server knows it, otherwise by a handshake. */
export async function negotiate(options: NegotiateOptions): Promise<Opened> {
  const { revision, remembered, timeoutMs, signal } = options
  const probes = revision === undefined && (remembered ?? 'request') === 'request'
  let down: Error | undefined
  const transport = await options.open({
    ...options.events,
    onDown(reason) {
      down = reason
      options.events.onDown(reason)
    },
  })
  const checkUp = (opened: Opened): Opened => {
    if (down !== undefined) throw down
    return opened
  }
  const newest = (agreement: Agreement): Opened => checkUp({ transport, agreement, mode: 'request' })
  // Some servers exit when the first request is unknown to them, so start again with a handshake.
  let next: OpeningMode = 'handshake'
  const orStartAgain = (error: unknown): undefined => {
    if (down === undefined || signal.aborted) throw error
  }
  try {
    if (revision === LATEST) return newest(await discover(transport, options, timeoutMs))
    if (probes) {
      const agreement = await probe(transport, options).catch(orStartAgain)
      if (agreement !== undefined) return newest(agreement)
    } else if (down !== undefined) throw down // No request is to blame, so another connection would fail too.
    if (down === undefined) {
      const { handshake } = await import('./handshake.ts')
      const opened = await handshake(transport, options).catch(async (error: unknown) => {
        if (!probes) throw error
        if (!isContradictory(error)) return orStartAgain(error)
        // The server was too late to say that it has the newest revision. Some cannot use it after a handshake.
        const agreement = await discover(transport, options, timeoutMs).catch((failure: unknown) => {
          if (remembered !== undefined || signal.aborted) throw failure
          next = 'request'
        })
        return agreement && newest(agreement)
      })
      if (opened !== undefined) return checkUp(opened)
    }
  } catch (error) {
    await transport.close()
    throw revision === undefined ? error : (await import('./pinned-revision.ts')).explain(error, revision)
  }
  await transport.close()
  return negotiate({ ...options, remembered: next })
}

/** Tries the newest revision. Returns undefined if the server does not know it. */
async function probe(transport: ClientTransport, options: NegotiateOptions): Promise<Agreement | undefined> {
  const { timeoutMs, remembered } = options
  // A server that is known to have the newest revision gets more time, but may have been replaced by an older one.
  const probeMs = Math.max(options.probeMs, remembered === undefined ? 0 : timeoutMs / 2)
  try {
    return await discover(transport, options, probeMs)
  } catch (error) {
    if (!(error instanceof McpError) || options.signal.aborted) throw error
    if (error.kind === 'timeout' && probeMs >= timeoutMs) throw error
    if (FINAL.has(error.kind)) {
      const { status, opaque } = error.data ?? {}
      // Browsers hide why CORS blocked a request; the headers of the newest revision may be the reason.
      if (!NOT_UNDERSTOOD.has(status) && opaque !== true) throw error
    }
    return undefined
  }
}

/** Errors that end the attempt to connect, unless they may mean that the server is older. */
const FINAL: ReadonlySet<string> = new Set([
  'http_failed',
  'connect_failed',
  'no_revision',
  'login_failed',
  'login_needed',
])

/** The statuses of servers that do not understand a request. */
export const NOT_UNDERSTOOD: ReadonlySet<unknown> = new Set([400, 404, 405])

async function discover(
  transport: ClientTransport,
  options: NegotiateOptions,
  timeoutMs: number,
): Promise<Agreement> {
  const ask = (): Promise<JsonObject> =>
    exchange(transport, 'server/discover', {}, { revision: LATEST, forms: NEWEST }, { ...options, timeoutMs })
  const result = await ask().catch((error: unknown) => {
    if (!isContradictory(error)) throw error
    return ask()
  })
  const versions = result['supportedVersions'] as readonly unknown[]
  if (!versions.includes(LATEST))
    throw mcpError(UNKNOWN_METHOD, { method: 'server/discover', revision: LATEST })
  transport.agree(LATEST)
  return toAgreement({ revision: LATEST, forms: NEWEST }, serverOf(result), result)
}

/** The server info, which the newest revision sends in `_meta`. */
function serverOf({ _meta: meta }: JsonObject): JsonObject | undefined {
  const info = (meta as JsonObject | null | undefined)?.[META.serverInfo]
  return isObject(info) ? info : undefined
}

/** Whether a server rejects the newest revision but lists it as supported. It is worth asking again. */
function isContradictory(error: unknown): boolean {
  if (!(error instanceof McpError) || error.kind !== 'revision_unsupported') return false
  const supported = error.data?.['supported']
  return Array.isArray(supported) && supported.includes(LATEST)
}
