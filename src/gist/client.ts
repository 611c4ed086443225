import type { Some } from '../base/some.ts'
import { readLimits } from '../base/limits.ts'
import { orAborted } from '../base/backoff.ts'
import { Clock } from '../rpc/clock.ts'
import { Deadline } from '../rpc/deadline.ts'
import { eachItem, type Reading } from '../client/lists.ts'
import { CLIENT_LIMITS, type ClientLimits } from '../protocol/client-limits.ts'
import { LATEST } from '../protocol/revisions.ts'
import { toMs, type Duration } from '../base/duration.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_ANSWER, NO_REVISION } from '../errors/client.ts'
import { CLOSED } from '../errors/rpc.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import {
  callable,
  DURATION,
  either,
  listOf,
  object,
  oneOf,
  SIGNAL,
  TEXT,
  type KindsOf,
} from '../base/kinds.ts'
import { badOption, checkOptions } from '../base/options.ts'
import type { CallerHeaders, HeaderRecord } from '../transport/http/client/headers.ts'
import {
  isJobId,
  readDescriptor,
  readJob,
  readListed,
  readResult,
  type GistJob,
  type GistResult,
} from './answers.ts'
import {
  ASYNC,
  GIST_CAPABILITIES,
  type ConnectionDescriptor,
  type ResultEnvelope,
  type ToolDescriptor,
} from './envelopes.ts'
import { Poster, type Posting } from './post.ts'
import { agree, CYCLES, isVersion, monthOf, revisionOf, type Cycle } from './version.ts'

/** The options of `connectGist`. */
export interface GistConnectOptions {
  /** The version to request, as a month or a date. Default: `2025-11`. */
  readonly version?: string | undefined
  /** How far the server's version may differ from that: by one `revision`, or by one `month`. Default: `revision`. */
  readonly cycle?: Cycle | undefined
  /** The capabilities to request. Default: `stream`, `schema_ref` and `async`. */
  readonly capabilities?: readonly string[] | undefined
  /** Identifies this client in the handshake. Default: the server chooses an id. */
  readonly clientId?: string | undefined
  /** The client's name, sent with every call. Default: none. */
  readonly clientName?: string | undefined
  /** HTTP headers for every request, such as `authorization`; a function is called each time. Default: none. */
  readonly headers?: CallerHeaders | undefined
  /** Sends the requests, for proxies and tests. Default: that of the runtime. */
  readonly fetch?: typeof fetch | undefined
  /** A request times out after this much silence; progress restarts the timeout. Default: 60 s. */
  readonly timeout?: Duration | undefined
  /** The longest a request may take, with or without progress. Default: 5 min. */
  readonly total?: Duration | undefined
  /** Limits on what the server sends: `'strict'`, or changes to single limits. Default: the usual values. */
  readonly limits?: 'strict' | Some<ClientLimits> | undefined
}

/** Options of one list. */
export interface GistListOptions {
  /** It fails after this much silence; the progress of a call restarts the timeout. Default: that of `connectGist`. */
  readonly timeout?: Duration | undefined
  /** The longest that all of it may take: every page, with or without progress. Default: that of `connectGist`. */
  readonly total?: Duration | undefined
  /** Ends it when it aborts. Default: none. */
  readonly signal?: AbortSignal | undefined
}

/** Options of one call. */
export interface GistCallOptions extends GistListOptions {
  /** Waits for the result. `async` takes the options of a job. Default: `sync`. */
  readonly mode?: 'sync' | undefined
  /** Called with progress, and with a part of the output if the server sends one. Default: progress is ignored. */
  readonly onProgress?: ((part: ResultEnvelope) => void) | undefined
  /** Identifies the call in the traces of both sides. Default: none. */
  readonly traceId?: string | undefined
}

/** Options of a call that becomes a job; its times and its signal apply until the server has answered with the handle. */
export interface GistJobOptions extends GistListOptions {
  /** Takes the handle of a job, for `resume`. */
  readonly mode: 'async'
  /** Identifies the call in the traces of both sides. Default: none. */
  readonly traceId?: string | undefined
}

/** Options of waiting for a job. */
export interface GistResumeOptions {
  /** Each question about the job fails after this much silence. Default: that of `connectGist`. */
  readonly timeout?: Duration | undefined
  /** The longest time to wait for the job, which goes on. Default: until it ends. */
  readonly total?: Duration | undefined
  /** Stops waiting for the job, which goes on. Default: none. */
  readonly signal?: AbortSignal | undefined
  /** Called with each answer while the job runs, which has a text if the tool reported one. Default: answers are ignored. */
  readonly onProgress?: ((part: ResultEnvelope) => void) | undefined
}

const OPTIONS: KindsOf<GistConnectOptions> = {
  version: { must: 'a month such as 2025-11, or a date', is: isVersion, repeats: true },
  cycle: oneOf(...CYCLES),
  capabilities: listOf(TEXT),
  clientId: TEXT,
  clientName: TEXT,
  headers: either(
    object<HeaderRecord>('an object: header values by name'),
    callable<() => HeaderRecord | Promise<HeaderRecord>>(),
  ),
  fetch: callable<typeof fetch>(),
  timeout: DURATION,
  total: DURATION,
  limits: either(oneOf('strict'), object<Some<ClientLimits>>()),
}
const LIST_OPTIONS: KindsOf<GistListOptions> = { timeout: DURATION, total: DURATION, signal: SIGNAL }

/** The options of both kinds of calls. */
type AnyCallOptions = Omit<GistCallOptions, 'mode'> & { readonly mode?: 'sync' | 'async' | undefined }

const CALL_OPTIONS: KindsOf<AnyCallOptions> = {
  ...LIST_OPTIONS,
  mode: oneOf('sync', 'async'),
  onProgress: callable<NonNullable<GistCallOptions['onProgress']>>(),
  traceId: TEXT,
}
const RESUME_OPTIONS: KindsOf<GistResumeOptions> = { ...LIST_OPTIONS, onProgress: CALL_OPTIONS.onProgress }

/**
 * Connects to a server of the 2025-11 developer specification at a URL such as `http://localhost:3000/gist`.
 *
 * @example
 * await using client = await connectGist('http://localhost:3000/gist')
 * const { result } = await client.call('add', { a: 1, b: 2 })
 */
export async function connectGist(url: string | URL, options: GistConnectOptions = {}): Promise<GistClient> {
  checkOptions('connectGist', options, OPTIONS)
  const { version = '2025-11', cycle = 'revision' } = options
  const limits = readLimits(CLIENT_LIMITS, options.limits)
  const poster = new Poster(url, { headers: options.headers ?? {}, fetch: options.fetch, limits })
  const client = new GistClient({ poster, limits, version, cycle, options })
  try {
    await client.open()
    return client
  } catch (error) {
    await client.close()
    throw error
  }
}

interface Parts {
  readonly poster: Poster
  readonly limits: ClientLimits
  readonly version: string
  readonly cycle: Cycle
  readonly options: GistConnectOptions
}

/** The refusals of servers that do not know a session. */
const SESSION_OVER: ReadonlySet<unknown> = new Set(['SESSION_INVALID', 'INVALID_SESSION_ID'])

/** A client of one server. If the server no longer knows the session, the client opens a new one. */
export class GistClient implements AsyncDisposable {
  readonly #parts: Parts
  #descriptor: ConnectionDescriptor | undefined
  #opening: Promise<ConnectionDescriptor> | undefined
  /** The readings of the list of tools. */
  readonly #readings = new Set<Reading>()

  /** @internal */
  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The result of the handshake. */
  get descriptor(): ConnectionDescriptor {
    if (this.#descriptor === undefined) throw mcpError(CLOSED, {})
    return this.#descriptor
  }

  /** Performs the handshake; concurrent callers share one. */
  async open(): Promise<ConnectionDescriptor> {
    this.#opening ??= this.#shake().finally(() => (this.#opening = undefined))
    return (this.#descriptor = await this.#opening)
  }

  /** Calls a tool and waits for its result. Throws `ToolError` when the tool fails, and `McpError` otherwise. */
  async call(tool: string, args?: JsonObject, options?: GistCallOptions): Promise<GistResult>
  /**
   * Starts a job. Returns its handle, or the result if the server has answered directly.
   *
   * @example
   * const job = await client.call('render', { film }, { mode: 'async' })
   * const { result } = job.status === 'success' ? job : await client.resume(job.job_id)
   */
  async call(tool: string, args: JsonObject, options: GistJobOptions): Promise<GistJob | GistResult>
  async call(
    tool: string,
    args: JsonObject = {},
    options: AnyCallOptions = {},
  ): Promise<GistJob | GistResult> {
    checkOptions('call', options, CALL_OPTIONS)
    const { mode = 'sync' } = options
    const { clientName } = this.#parts.options
    const { traceId, onProgress } = options
    const context = {
      ...(clientName !== undefined && { client_name: clientName }),
      ...(traceId !== undefined && { trace_id: traceId }),
    }
    const named = Object.keys(context).length > 0 && { context }
    const body = { tool_id: tool, arguments: args, mode, ...named }
    const answer = await this.#ask(body, { onProgress, clock: new Clock(), ...this.#times(options) })
    return (mode === 'async' ? readJob(answer) : undefined) ?? readResult(answer)
  }

  /**
   * Waits for a job that this client or another started, and returns and throws what `call` does. It asks when the server says,
   * but at least every 30 s and at most every 100 ms, and goes on while the server cannot be reached for a short time.
   */
  async resume(jobId: string, options: GistResumeOptions = {}): Promise<GistResult> {
    checkOptions('resume', options, RESUME_OPTIONS)
    if (!isJobId(jobId)) throw badOption('resume', 'pass the job_id of a job, as its handle has it')
    const { waitForJob } = await import('./resume.ts')
    const posting = { ...this.#times({ ...options, total: options.total ?? Infinity }), clock: new Clock() }
    return waitForJob(this.#parts.poster, jobId, { ...posting, onProgress: options.onProgress })
  }

  /** All tools of the server. Throws if the list is too long or repeats a cursor. */
  async tools(options: GistListOptions = {}): Promise<readonly ToolDescriptor[]> {
    checkOptions('tools', options, LIST_OPTIONS)
    const all: ToolDescriptor[] = []
    const times = this.#times(options)
    const page = async (params: JsonObject, clock: Clock): Promise<JsonObject> => {
      const listed = readListed(await this.#ask({ list: 'tools', ...params }, { ...times, clock }))
      return { tools: listed.tools, nextCursor: listed.next_cursor }
    }
    const { pages: maxPages, uriLength: maxLength } = this.#parts.limits
    const warn = (): void => undefined
    const list = {
      method: 'tools/list',
      member: 'tools',
      revision: LATEST,
      maxPages,
      maxLength,
      readings: this.#readings,
      warn,
    } as const
    for await (const tool of eachItem<ToolDescriptor>(list, page)) all.push(tool)
    return all
  }

  /** Aborts running requests. The session times out on the server. */
  async close(): Promise<void> {
    this.#parts.poster.close()
  }

  /** Closes the client at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Sends a request. If the server no longer knows the session, it did nothing, so the request is sent again in a new one. */
  async #ask(body: JsonObject, posting: Posting): Promise<ResultEnvelope> {
    const { session } = this.descriptor
    const answer = await this.#send(body, session, posting)
    if (!SESSION_OVER.has(answer.error?.refusal?.['name'])) return answer
    if (session === this.descriptor.session) await this.#reopen(posting)
    return this.#send(body, this.descriptor.session, posting)
  }

  /** Opens a new session. Each request waits for it only within its own limits. */
  async #reopen({ idleMs, totalMs, clock, signal }: Posting): Promise<void> {
    const deadline = new Deadline({ method: 'the handshake', idleMs, totalMs, clock, signal })
    await orAborted(this.open(), deadline.signal).finally(() => deadline.end())
  }

  async #send(body: JsonObject, session: string, posting: Posting): Promise<ResultEnvelope> {
    const id = crypto.randomUUID()
    const answer = await this.#parts.poster.post({ request_id: id, session, ...body }, posting)
    const { request_id: about } = answer
    if (about !== id && (answer['status'] !== 'error' || typeof about === 'string'))
      throw mcpError(BAD_ANSWER, { method: 'the call', issue: 'it answers another request' })
    return answer as unknown as ResultEnvelope
  }

  async #shake(): Promise<ConnectionDescriptor> {
    const { version } = this.#parts
    const clock = new Clock()
    const answer = await this.#offer(version, clock)
    const lower = this.#downgrade(answer)
    const descriptor = readDescriptor(lower === undefined ? answer : await this.#offer(lower, clock))
    const revision = revisionOf(descriptor.mcp_version)
    if (revision === undefined || !this.#isNear(revision))
      throw mcpError(NO_REVISION, { offered: descriptor.mcp_version.slice(0, 64) })
    return descriptor
  }

  #offer(version: string, clock: Clock): Promise<JsonObject> {
    const { capabilities = [...GIST_CAPABILITIES, ASYNC], clientId } = this.#parts.options
    const named = clientId !== undefined && { client_id: clientId }
    const body = { mcp_version: version, capabilities, ...named }
    return this.#parts.poster.post(body, { ...this.#times({}), clock })
  }

  /** The version to request after ours was rejected, if the server offers one that is close enough. */
  #downgrade({ error }: JsonObject): string | undefined {
    const { data, code } = isObject(error) ? error : {}
    const supported =
      isObject(data) && Array.isArray(data['supported']) ? (data['supported'] as unknown[]) : []
    if (code !== REFUSED_VERSION || supported.length === 0) return undefined
    const near = supported.flatMap((one) => {
      const revision = isVersion(one) ? revisionOf(one) : undefined
      return revision !== undefined && this.#isNear(revision) ? [revision] : []
    })
    const best = near.toSorted().at(-1)
    if (best === undefined)
      throw mcpError(NO_REVISION, { offered: supported.slice(0, 8).map(shown).join(', ') })
    return monthOf(best)
  }

  /** Whether a revision is at most one cycle older than the requested version. */
  #isNear(revision: NonNullable<ReturnType<typeof revisionOf>>): boolean {
    const { version, cycle } = this.#parts
    return agree(version, [revision], cycle) !== undefined
  }

  #times({ timeout, total, signal }: GistListOptions): Posting {
    const { options } = this.#parts
    return {
      idleMs: toMs(timeout ?? options.timeout ?? '60s', 'timeout'),
      totalMs: toMs(total ?? options.total ?? '5m', 'total'),
      signal,
    }
  }
}

const REFUSED_VERSION = -32022

function shown(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 32) : typeof value
}
