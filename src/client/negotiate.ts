import { McpError, mcpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { fromErrorObject } from '../protocol/remote-error.ts'
import { LATEST, REVISIONS, isRevision, type Revision } from '../protocol/revisions.ts'
import type { Line, LineEvents, OpenLine } from '../rpc/line.ts'
import { openResult } from '../wire/2026-07-28/open.ts'
import { orAborted } from './backoff.ts'
import { formsOf, NEWEST, type Forms } from './forms.ts'
import { checkResult } from './results.ts'
import { sealCall, sealNote, type Sender } from './seal-call.ts'

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
  /** How the server opened last time. */
  readonly remembered: 'request' | 'handshake' | undefined
  readonly timeoutMs: number
  /** How long a server may stay silent before it counts as one that does not know the newest revision. */
  readonly probeMs: number
  /** Aborts when nobody wants the connection any more. */
  readonly signal: AbortSignal
  nextId(): number
}

const SHAKEN = REVISIONS.filter((revision) => revision !== LATEST)

/** Opens a line and agrees on a revision: the newest when the server knows it, otherwise by a handshake. */
export async function negotiate(
  options: NegotiateOptions,
): Promise<{ readonly line: Line; readonly agreement: Agreement }> {
  const { revision, remembered } = options
  let down: Error | undefined
  const line = await options.open(watched(options.events, (reason) => (down = reason)))
  const standing = (agreement: Agreement): { readonly line: Line; readonly agreement: Agreement } => {
    if (down !== undefined) throw down
    return { line, agreement }
  }
  try {
    if (revision === LATEST) return standing(await discover(line, options, options.timeoutMs))
    if (revision === undefined && remembered !== 'handshake') {
      const agreement = await probe(line, options).catch((error: unknown) => {
        if (down === undefined || options.signal.aborted) throw error
        return undefined
      })
      if (agreement !== undefined) return standing(agreement)
    }
    if (down === undefined) return standing(await shakeHands(line, options))
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

async function shakeHands(line: Line, options: NegotiateOptions): Promise<Agreement> {
  const asked = options.revision ?? (SHAKEN.at(-1) as Revision)
  const { client, capabilities } = options.sender()
  const roots = capabilities['roots'] === undefined ? {} : { roots: { listChanged: true } }
  const params = { protocolVersion: asked, capabilities: { ...capabilities, ...roots }, clientInfo: client }
  const forms = await formsOf(asked)
  const result = await exchange(line, 'initialize', params, { revision: asked, forms }, options)
  const { protocolVersion: offered } = result
  if (
    !isRevision(offered) ||
    offered === LATEST ||
    (options.revision !== undefined && offered !== options.revision)
  ) {
    throw mcpError('no_revision', { offered: String(offered).slice(0, 64) })
  }
  line.agree(offered)
  const spoken = { revision: offered, forms: await formsOf(offered) }
  const initialized = 'notifications/initialized'
  const sent = line.send(sealNote(initialized, {}, spoken.forms))
  const { signal, end } = patience(initialized, options)
  await orAborted(sent, signal).finally(end)
  return agreed(spoken, result['serverInfo'] as JsonObject, result)
}

type Spoken = Pick<Agreement, 'revision' | 'forms'>

function agreed(spoken: Spoken, server: JsonObject | undefined, result: JsonObject): Agreement {
  const { instructions } = result
  return {
    ...spoken,
    server,
    capabilities: result['capabilities'] as JsonObject,
    instructions: typeof instructions === 'string' ? instructions : undefined,
  }
}

async function exchange(
  line: Line,
  method: string,
  params: JsonObject,
  spoken: Spoken,
  options: NegotiateOptions,
): Promise<JsonObject> {
  const { signal, end } = patience(method, options)
  try {
    const outgoing = sealCall({ id: options.nextId(), method, params, ...spoken, sender: options.sender() })
    const answer = await line.request({
      ...outgoing,
      signal,
      onMessage: options.events.onMessage,
    })
    if (answer.error !== undefined) throw fromErrorObject(answer.error)
    return checkResult(method, answer.result ?? {})
  } finally {
    end()
  }
}

/** Aborts when a server has been silent for too long, or nobody wants the connection any more. */
function patience(
  method: string,
  { timeoutMs: ms, signal }: NegotiateOptions,
): { readonly signal: AbortSignal; end(): void } {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(mcpError('timeout', { method, ms })), ms)
  const stop = (): void => controller.abort(signal.reason)
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    },
  }
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
