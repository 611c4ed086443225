import { abandonable } from '../base/abandonable.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { mcpError } from '../errors/error.ts'
import type { JsonObject, RequestId } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Root } from '../protocol/spec/2026-07-28.ts'
import type { Auth, Call, ClientInfo } from '../rpc/call.ts'
import type { Advice, AnySchema, OutputOf } from '../schema/schema.ts'
import { lazy } from '../base/lazy.ts'
import type * as asks from './ask.ts'
import type { AskOptions, Elicited, ElicitedUrl, Sampled, SampleParams } from './ask.ts'
import { createLog, type Log } from './logging.ts'
import { createProgress, type ReportProgress } from './progress.ts'
import { newRounds, onceIn, type Rounds } from './rounds.ts'
import { supports, type ClientFeature } from './supports.ts'
import type { ServerParts } from './parts.ts'
import { sessionOf, type RequestSession } from './session-state.ts'

/** The client of a request. */
export interface RequestClient {
  /** The name that the client gives itself. It is not authenticated. */
  readonly info: ClientInfo | undefined
  /** The capabilities that the client declared, in the form of its revision. */
  readonly capabilities: JsonObject
  /** Whether the client can answer a question, so that a handler can do without: `ctx.client.supports('elicitation.form')`. */
  supports(feature: ClientFeature): boolean
}

/** The request behind a context, for the modules of the server; handlers see only what `Context` shows. */
export let callOf: (context: Context) => Call
/** The parts of a server that all contexts share. */
export let partsOf: (context: Context) => ServerParts
/** The rounds of a request; undefined until it asks, or remembers, something. */
export let roundsOf: (context: Context) => Rounds | undefined
/** The rounds of a request, begun if it has none yet. */
export let beginRounds: (context: Context) => Rounds

/**
 * The context of one request, the same in every revision. Its members may be destructured (`{ signal, progress }`):
 * none depends on `this`.
 */
export class Context {
  readonly #call: Call
  readonly #parts: ServerParts
  /** The rounds of the request; created when it first asks or remembers something. */
  #rounds: Rounds | undefined
  #log: Log | undefined
  #progress: ReportProgress | undefined

  static {
    callOf = (context) => context.#call
    partsOf = (context) => context.#parts
    roundsOf = (context) => context.#rounds
    beginRounds = (context) => (context.#rounds ??= newRounds())
  }

  /** @internal */
  constructor(call: Call, parts: ServerParts) {
    this.#call = call
    this.#parts = parts
  }

  /** The id of the request; a notification has none. */
  get id(): RequestId | undefined {
    return this.#call.id
  }

  /**
   * Identifies the request in the log, as the reference that a masked error tells its caller. Every request has its own, while
   * clients may use the same `id` again.
   */
  get reference(): string {
    return this.#call.reference
  }

  /** The method of the request, such as `tools/call`. */
  get method(): string {
    return this.#call.method
  }

  /** The params of the request, as the client sent them; URIs of resources are in their usual spelling. */
  get params(): JsonObject {
    return this.#call.params
  }

  /** The protocol revision of the request, for logs. Handlers work the same at every one. */
  get revision(): Revision {
    return this.#call.peer.dialect.revision
  }

  /**
   * Aborts when the client cancels or disconnects, or when the tool times out. Pass it to what you await.
   *
   * @example
   * app.tool('fetch', { timeout: '20s' }, async (_, { signal }) => (await fetch(url, { signal })).text())
   */
  get signal(): AbortSignal {
    return this.#call.signal
  }

  /** The client: its name, its capabilities, and the questions that it can answer. */
  get client(): RequestClient {
    const { peer } = this.#call
    return {
      info: peer.client,
      capabilities: peer.capabilities,
      supports: (feature) => supports(peer, feature),
    }
  }

  /** The authenticated caller, if the transport authenticates; or the scopes that the options of the transport grant. */
  get auth(): Auth | undefined {
    const { auth, scopes } = this.#call.source
    return auth ?? (typeof scopes === 'object' ? { scopes } : undefined)
  }

  /**
   * The IP address of the client. Undefined where there is none (stdio, Unix sockets, clients in the same process), and in
   * `app.fetch`, whose requests do not say it. Behind a proxy, it is the address of the proxy unless `trustProxy` is set.
   */
  get ip(): string | undefined {
    return this.#call.source.ip
  }

  /** An HTTP header of the request by name; undefined on other transports. */
  get header(): (name: string) => string | undefined {
    return (name) => this.#call.source.header?.(name.toLowerCase())
  }

  /**
   * The session of the client, with an id and values that last as long as the session: `await ctx.session?.get('cart')`.
   * Undefined without one: at 2026-07-28, with `sessions: false`, and in envelopes that name none.
   */
  get session(): RequestSession | undefined {
    return sessionOf(this.#call, this.#parts)
  }

  /**
   * Reports progress, if the client asked for it. Values that do not increase are dropped.
   *
   * @example
   * ctx.progress(3, 10, 'third file')
   */
  get progress(): ReportProgress {
    return (this.#progress ??= createProgress(this.#call, this.#parts))
  }

  /**
   * Sends log messages to the client, at or above the level that it asked for; until it asks, at `info`, and at 2026-07-28
   * none. Never put secrets into them. Messages for the operator go to your own logger instead.
   *
   * @example
   * ctx.log.warning('slow upstream', { ms: 1200 })
   */
  get log(): Log {
    return (this.#log ??= createLog(this.#call))
  }

  /** Sends a notification on the stream of this request. */
  get notify(): (method: string, params?: JsonObject) => void {
    return (method, params = {}) => this.#call.emit(method, params)
  }

  /**
   * Asks the user to fill in a form, of text, numbers, booleans and choices. The type of the answer comes from the schema.
   * Throws if the client does not support it: ask `ctx.client.supports('elicitation.form')` first.
   *
   * @example
   * const { action, content } = await ctx.elicit('Really delete it?', z.object({ sure: z.boolean() }))
   * if (action !== 'accept' || !content.sure) return 'Nothing was deleted.'
   */
  get elicit(): <const Schema extends AnySchema>(
    message: string,
    schema: Schema & Advice<Schema>,
    options?: AskOptions,
  ) => Promise<Elicited<OutputOf<Schema>>> {
    return (message, schema, options) =>
      ask(this, 'elicit', ({ elicit }) => elicit(this, message, schema, options))
  }

  /**
   * Asks the user to visit a URL: for secrets, payments and consent on another site. Throws if the client does not support it
   * (`elicitation.url`).
   *
   * @example
   * const { action } = await ctx.elicitUrl('Sign in to the bank', 'https://bank.example/connect?state=…')
   */
  get elicitUrl(): (message: string, url: string, options?: AskOptions) => Promise<ElicitedUrl> {
    return (message, url, options) =>
      ask(this, 'elicitUrl', ({ elicitUrl }) => elicitUrl(this, message, url, options))
  }

  /**
   * Asks the client's model. Throws if the client does not support it (`sampling`, and `sampling.tools` with tools).
   *
   * @example
   * const { content } = await ctx.sample({ messages: [{ role: 'user', content: `Summarize:\n${note}` }], maxTokens: 200 })
   */
  get sample(): (params: SampleParams, options?: AskOptions) => Promise<Sampled> {
    return (params, options) => ask(this, 'sample', ({ sample }) => sample(this, params, options))
  }

  /** The folders that the client works in, as `file://` URIs. Throws if the client does not support it (`roots`). */
  get roots(): (options?: AskOptions) => Promise<readonly Root[]> {
    return (options) => ask(this, 'roots', ({ listRoots }) => listRoots(this, options))
  }

  /**
   * Runs a function once and keeps its value, even if the handler runs again after a question, as it does at 2026-07-28. The
   * value must be JSON.
   *
   * @example
   * const order = await ctx.once('order', () => db.createOrder())
   * const { action } = await ctx.elicit('Pay now?', z.object({}))
   */
  get once(): <Value>(key: string, make: () => Value | Promise<Value>) => Promise<Value> {
    return <Value>(key: string, make: () => Value | Promise<Value>) =>
      abandonable(
        (async () => (await onceIn(beginRounds(this), key, keptBy(this.#call, key, make))) as Value)(),
      )
  }

  /** The number of the attempt that runs, if the request is a task that may be tried again; 1 is the first. Outside tasks it is 1. */
  get attempt(): number {
    return this.#call.task?.attempt ?? 1
  }

  /** Closes the connection of a stream that can be resumed; the client reconnects for the rest after `retryMs`. Default: 1000. */
  get closeStream(): (retryMs?: number) => void {
    return (retryMs = 1000) => this.#call.closeStream(retryMs)
  }

  /**
   * The former name of `closeStream`.
   * @internal
   */
  get hangUp(): never {
    throw mcpError(BAD_OPTION, { where: 'ctx.hangUp', reason: 'it is called ctx.closeStream' })
  }
}

/** The function of `ctx.once`, whose value a task keeps for further attempts. */
function keptBy({ task }: Call, key: string, make: () => unknown): () => unknown {
  return task === undefined ? make : () => task.once(key, make)
}

type Asking = typeof asks
const asking = lazy(() => import('./ask.ts'))

/** Asks questions in the order of the calls. */
function ask<Answer>(
  context: Context,
  name: string,
  put: (asking: Asking) => Promise<Answer>,
): Promise<Answer> {
  const { open } = beginRounds(context)
  const asked = { name }
  open.add(asked)
  const answer = Promise.resolve(asking()).then(put)
  const close = (): void => void open.delete(asked)
  // Before the handler goes on, which may then return.
  answer.then(close, close)
  return answer
}
