import { networkOf } from '../base/address.ts'
import { isObject, type JsonObject, type RequestId } from '../protocol/jsonrpc.ts'
import { methodRow } from '../protocol/methods.ts'
import type { Dialect } from '../protocol/switches.ts'
import { mcpError, type McpError } from '../errors/error.ts'
import { LATER } from '../errors/retry-after.ts'
import { SHUTTING_DOWN } from '../errors/rpc.ts'
import type { Scopes } from './scopes.ts'
import type { Session } from './session.ts'

/** How a client identifies itself. */
export interface ClientInfo {
  /** The name of the program, such as `claude-desktop`. */
  readonly name: string
  /** The version of the program. */
  readonly version: string
  /** The name of the program for people; absent if it gives none. */
  readonly title?: string | undefined
}

/** The sender of a request, as described by the handshake or by the request itself. */
export interface Peer {
  readonly dialect: Dialect
  readonly client: ClientInfo | undefined
  readonly capabilities: JsonObject
  readonly session: Session | undefined
}

/** The caller as an authenticator established it. */
export interface Auth {
  /** Identifies the caller for as long as tokens are renewed. Sessions and limits belong to the caller with this subject. */
  readonly sub?: string | undefined
  /** The scopes that the caller has, which the `scopes` of tools, resources and prompts are compared with. Default: none. */
  readonly scopes?: readonly string[] | undefined
  /** Any other claim, such as `iss` or `client_id`. */
  readonly [claim: string]: unknown
}

/**
 * Identifies a caller by the claims that survive token renewal. An issuer or a client id alone does not identify a user,
 * so without a subject all of `auth` is the identity.
 */
export function ownerOf(auth: Auth | undefined): string {
  if (auth === undefined) return ''
  const known = OWNERS.get(auth)
  if (known !== undefined) return known
  const names = [auth['iss'] ?? auth['issuer'], auth.sub, auth['client_id'] ?? auth['clientId']]
  if (NOBODY.has(auth.sub)) return JSON.stringify(auth)
  // A token without a subject is that of a client on its own behalf, and a user may have the subject that it then gets.
  if (isObject(auth['claims']) && NOBODY.has(auth['claims']['sub'])) names.push('client')
  const owner = JSON.stringify(names)
  // A request asks several times, and all requests with the same token have the same object.
  if (Object.isFrozen(auth)) OWNERS.set(auth, owner)
  return owner
}

/** The issuer and the subject that an owner stands for; undefined if it has no subject, or cannot be read. */
export function claimsOf(owner: string): Auth | undefined {
  const names = owner.startsWith('[') ? namesIn(owner) : undefined
  if (!Array.isArray(names)) return undefined
  const [iss, sub] = names as readonly (string | null)[]
  return { iss: iss ?? undefined, sub: sub ?? undefined }
}

function namesIn(owner: string): unknown {
  try {
    return JSON.parse(owner) as unknown
  } catch {
    return undefined
  }
}

/** The identities of callers that cannot change. */
const OWNERS = new WeakMap<Auth, string>()

/** The subjects that authenticators give to callers without one. */
const NOBODY: ReadonlySet<unknown> = new Set([undefined, null, ''])

/** The part of a runtime that keeps one request alive. */
export interface RequestLifetime {
  /** Runs `act` on behalf of the request, whichever request calls this. */
  defer(act: () => void): void
  /** Keeps the request alive while a handler runs; calls `lost` if the runtime stops the request without notice. */
  hold(isOver: () => boolean, lost: () => void): void
  /** Ends the lifetime, because the reply is complete or its client is gone, once no handler runs. */
  close(): void
}

/** Runs `act` on behalf of a request, or simply now on runtimes that do not care. */
export function inLifetime(lifetime: RequestLifetime | undefined, act: () => void): void {
  if (lifetime === undefined) act()
  else lifetime.defer(act)
}

/** The origin of a request, as far as the transport knows it. */
export interface RequestSource {
  readonly auth?: Auth | undefined
  /** The owner of the client certificate of its connection, if there is one. A token may say that `auth` is another caller. */
  readonly certified?: Auth | undefined
  /** The scopes of everyone who uses the transport, where it does not authenticate. */
  readonly scopes?: Scopes | undefined
  /** The address of the client, if known. */
  readonly ip?: string | undefined
  /** Looks up an HTTP header by its lower-case name; absent on transports without headers. */
  readonly header?: ((name: string) => string | undefined) | undefined
  /** All headers, where they can be listed. */
  readonly headers?: (() => Readonly<Record<string, string>>) | undefined
  /** Whether the caller is the program that started this one. */
  readonly isParent?: boolean | undefined
  /** Only on runtimes where requests may not use each other's streams and signals. */
  readonly lifetime?: RequestLifetime | undefined
}

/** The error for requests that are not answered because the server closes. */
export const shuttingDown = (): McpError => mcpError(SHUTTING_DOWN, {}, LATER)

/** The network that an anonymous request came from, if known: anyone can open many sessions and connections there. */
export function anonymousNetwork({ auth, ip }: RequestSource): string | undefined {
  return auth !== undefined || ip === undefined ? undefined : networkOf(ip)
}

/** How a handler reaches the caller before it responds. The response itself is always the return value. */
export interface Channel {
  /** Sends a notification, which belongs to a request if there is one. */
  emit(method: string, params: JsonObject, peer: Peer, call?: Call): void
  /** Sends a request to the client and waits for the response. Absent when the client cannot be reached. */
  readonly ask?: ((method: string, params: JsonObject, call: Call) => Promise<JsonObject>) | undefined
  /** False while the client is away and may come back; absent if it is never so. */
  readonly isConnected?: boolean
  /** Calls `listener` when the client disconnects and cannot get the response any more. Absent if that cancels the request anyway. */
  onLeft?(listener: () => void): void
  /** Whether the client has not read much of what was sent, so that more should wait; absent if it is never so. */
  readonly isBehind?: boolean
  /** Cancels another request from the same client, if that request is known. */
  cancel?(params: JsonObject): void
  /** Rejects all further requests from the client. */
  rejectFurther?(): void
  /** Receives progress reports in place of the usual progress notifications. */
  readonly report?: (progress: number, total?: number, message?: string, content?: unknown) => void
  /** Closes the connection but keeps the stream, so the client can reconnect for the rest. */
  closeStream?(retryMs: number): void
}

/** A question to the client, as a task keeps it. */
export interface TaskQuestion {
  readonly method: string
  readonly params: JsonObject
}

/** The task that a call is, or may become. */
export interface CallTask {
  /** The number of the attempt that runs; 1 is the first. */
  readonly attempt: number
  /** Whether the call is a task; a promise while that is being decided. */
  isTask(): boolean | Promise<boolean>
  /** Takes the message of the last progress. */
  progress(message: string | undefined): void
  /** Asks a question, and waits for the answer. */
  question(key: string, question: TaskQuestion): Promise<JsonObject>
  /** The answer that this or an earlier attempt got; with `isSame`, only if the question was the same. */
  answerTo(key: string, question: TaskQuestion, isSame: boolean): JsonObject | undefined
  /** Keeps an answer for further attempts, or forgets one that could not be used. */
  keepAnswer(key: string, question: TaskQuestion, answer: JsonObject | undefined): void
  /** Keeps a value of `ctx.once` for further attempts. */
  keepOnce(key: string, value: unknown): void
  /** The value of `ctx.once` from this or an earlier attempt. */
  once(key: string, make: () => unknown): Promise<unknown>
}

/** The questions of one request that wait for answers: how many, and whose they are. */
export interface Asking {
  count: number
  readonly caller: unknown
  readonly network: string | undefined
}

/** One request or notification on its way to a handler. */
export class Call {
  readonly method: string
  /** Empty once the request no longer needs them. */
  params: JsonObject
  /** Absent for a notification. */
  readonly id: RequestId | undefined
  readonly peer: Peer
  /** That of a task, once the request has become one. */
  channel: Channel
  /** Without the connection, once the request has become a task. */
  source: RequestSource
  /** The task that the request is, or may become. */
  task: CallTask | undefined = undefined
  /**
   * Whether the request must become a task, and how long the task is kept then, or must wait for its result. Undefined if its
   * revision decides.
   */
  asTask: { readonly ttlMs?: number | undefined } | 'wait' | undefined = undefined
  /** Whether the handler of a tool has begun, so that repeating the request could do its work twice. */
  hasRun = false
  /** Whether the load counts it as running. */
  isCounted = false
  /** The caller it is counted for; undefined when unknown. */
  caller: unknown
  /** The network it is counted for, if it is. */
  network: string | undefined
  /** Its questions that wait for answers, if there are any. */
  asking: Asking | undefined = undefined
  /** Waits for an answer of the client without the place of the handler, if only so many run at once. */
  aside: (<Value>(wait: Promise<Value>) => Promise<Value>) | undefined = undefined
  /** Called when the work should stop; costs less than a signal. */
  onAbort: (() => void) | undefined = undefined
  /** Called when the caller gives up the request, also if its work goes on. */
  onCancel: (() => void) | undefined = undefined
  /** Called when the client of a question has disconnected, and may come back. */
  onDisconnect: (() => void) | undefined = undefined
  /** Called when the request is over. */
  onEnd: (() => void) | undefined = undefined
  #ended = false
  /** Whether the work goes on after the answer. */
  #goesOn = false
  #cancelled = false
  #aborted = false
  #reason: unknown
  #controller: AbortController | undefined
  #reference: string | undefined
  #asking: AbortController | undefined

  constructor(
    id: RequestId | undefined,
    method: string,
    params: JsonObject,
    parts: {
      readonly peer: Peer
      readonly channel: Channel
      readonly source: RequestSource
      /** The reference of the request that this one is part of. */
      readonly reference?: string
    },
  ) {
    this.id = id
    this.method = method
    this.params = params
    this.peer = parts.peer
    this.channel = parts.channel
    this.source = parts.source
    this.#reference = parts.reference
  }

  /** Identifies the request in the log and in masked errors. Clients choose ids, so those of two requests may be the same. */
  get reference(): string {
    return (this.#reference ??= crypto.randomUUID())
  }

  /** Aborts when the caller cancels or disconnects. Created on first use. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  /** Aborts the questions of the request when its work should stop, or when it is answered. Created on first use. */
  get askingSignal(): AbortSignal {
    this.#asking ??= new AbortController()
    if (this.#aborted || this.#ended) this.#asking.abort(this.#reason)
    return this.#asking.signal
  }

  /** Whether the work should stop. */
  get aborted(): boolean {
    return this.#aborted
  }

  /** Throws the reason if the work should stop. */
  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason
  }

  /** Whether the caller no longer wants a response. */
  get cancelled(): boolean {
    return this.#cancelled
  }

  /** Stops the work; the response is still sent. */
  abort(reason: unknown): void {
    if (this.#ended || this.#aborted) return
    this.#aborted = true
    this.#reason = reason
    inLifetime(this.source.lifetime, () => {
      this.#controller?.abort(reason)
      this.#asking?.abort(reason)
      this.onAbort?.()
    })
  }

  /** Stops the work and suppresses the response. */
  cancel(reason: unknown): void {
    if (this.#ended) return
    this.#cancelled = true
    if (!this.#goesOn) this.abort(reason)
    if (this.onCancel !== undefined) inLifetime(this.source.lifetime, this.onCancel)
  }

  /** Sends a notification that belongs to this request. Does nothing once the response has been sent. */
  emit(method: string, params: JsonObject): void {
    if (!this.#ended && (!this.#cancelled || this.#goesOn)) this.channel.emit(method, params, this.peer, this)
  }

  /** Closes the connection of its stream. Does nothing once the response has been sent. */
  closeStream(retryMs: number): void {
    if (!this.#ended) this.channel.closeStream?.(retryMs)
  }

  /** Asks a long-lived request to end with its response; does nothing to others. */
  endIfLasting(): void {
    if (methodRow(this.method)?.lasting === true) this.abort(mcpError(SHUTTING_DOWN, {}))
  }

  /** Whether the request was answered. */
  get ended(): boolean {
    return this.#ended
  }

  /** Forgets the params, which a request that stays open would otherwise keep. */
  dropParams(): void {
    this.params = {}
  }

  /** Makes the request a task: its work goes on after the answer, until `finish`, and reaches the client through another channel. */
  becomeTask(channel: Channel, params: JsonObject, source: RequestSource): void {
    this.#goesOn = true
    this.channel = channel
    this.params = params
    this.source = source
  }

  /** Marks the request as answered. */
  end(): void {
    if (!this.#goesOn) this.finish()
  }

  /** Marks the request as over. */
  finish(): void {
    this.#ended = true
    this.#asking?.abort()
    if (this.onEnd === undefined) return
    this.onEnd()
    this.onEnd = undefined
  }
}
