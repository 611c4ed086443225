import type { ErrorKind, McpError } from '../errors/error.ts'
import { methodRow } from '../protocol/methods.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Auth, Call, ClientInfo, RequestSource } from './call.ts'
import type { Result } from './dispatch.ts'

/** A request as observers see it. */
export interface ObservedRequest {
  /** Absent when the message could not be read. */
  readonly method?: string | undefined
  /** The tool, prompt or resource that the request names. */
  readonly target?: string | undefined
  /** The authenticated caller; absent if there is none. */
  readonly auth?: Auth | undefined
  /** The address of the client, as `ctx.ip`. */
  readonly ip?: string | undefined
  /** The name and version that the client gives itself; absent if it gives none, or was rejected before any handler ran. */
  readonly client?: ClientInfo | undefined
  /** The protocol revision of the request; absent when it was rejected before any handler ran. */
  readonly revision?: Revision | undefined
  /** `ctx.reference` of the request, which log lines and masked errors have too. Absent when it was rejected before any handler ran. */
  readonly reference?: string | undefined
  /** The size of the message in characters, where it is known. */
  readonly size?: number | undefined
}

/** How a request ended. */
export interface RequestEnd {
  /** `tool_error` is a result that reports a failure to the model. */
  readonly outcome: 'result' | 'tool_error' | 'error' | 'cancelled'
  /** The error that was sent. */
  readonly error?: McpError | undefined
  /** Milliseconds from the start of the request to its end. */
  readonly durationMs: number
  /** The size of the response in characters, where it is known. */
  readonly size?: number | undefined
}

/**
 * Sees the start and end of every request, including those rejected before any handler ran.
 *
 * @example
 * app.use({ observer: { end: ({ method }, { outcome, durationMs }) => metrics.record(method, outcome, durationMs) } })
 */
export interface Observer {
  /** Called before the request is handled. An error thrown here is reported and changes nothing. */
  start?(request: ObservedRequest): void
  /** A promise delays the response until it settles. An error thrown here is reported and changes nothing. */
  end?(request: ObservedRequest, end: RequestEnd): void | Promise<void>
}

/** A request that was rejected before it became a call. */
export interface RejectedRequest {
  /** Absent when the message does not say it correctly. */
  readonly method?: string
  readonly size: number
  readonly source: RequestSource
}

/** The names of the counters: errors by kind, and events for which no error is sent. */
export type Counted =
  | ErrorKind
  /** A connection was aborted because the client did not read what it requested. */
  | 'slow_reader'
  /** A connection was aborted because too many requests waited on it for the reply to an earlier one. */
  | 'too_many_pipelined'
  /** A connection was aborted because the client stopped responding. */
  | 'peer_lost'
  /** An event was discarded that a client might have resumed from. */
  | 'event_forgotten'
  /** A stream was discarded that a client might have resumed. */
  | 'stream_forgotten'
  /** Progress or a log message was not sent to a client that is reading too slowly. */
  | 'notice_dropped'
  /** A session timed out. */
  | 'session_expired'
  /** An idle session was evicted to make room for a new one. */
  | 'session_evicted'
  /** A stream of `subscriptions/listen` was ended to make room for one of a caller with far fewer. */
  | 'listener_evicted'
  /** The event loop was blocked. */
  | 'loop_blocked'
  /** User code threw an error that nothing caught. */
  | 'unhandled'

/** The observers of one server, and its counters. */
export class Observers {
  /** The param that names the target, for each method of an extension that has one. */
  readonly targets: Map<string, string> = new Map()
  readonly #list: Observer[] = []
  readonly #counts = new Map<Counted, number>()
  readonly #report: (error: unknown) => void

  /** `report` receives errors that observers throw. */
  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  get counts(): ReadonlyMap<Counted, number> {
    return this.#counts
  }

  count(what: Counted): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
  }

  add(observer: Observer): void {
    this.#list.push(observer)
  }

  /** Starts observing a request; undefined when there are no observers. */
  begin(call: Call, message: { readonly size: number }): Observed | undefined {
    return this.#list.length === 0 ? undefined : this.#begin(this.#describe(call, message.size))
  }

  /** Counts a request that was rejected before it became a call, and shows it to the observers. */
  rejected(error: McpError, request?: RejectedRequest): Promise<void> | undefined {
    this.count(error.kind)
    if (this.#list.length === 0) return undefined
    return this.#begin(request === undefined ? {} : describeRejected(request)).end({
      outcome: 'error',
      error,
    })
  }

  #begin(request: ObservedRequest): Observed {
    const observers = [...this.#list]
    for (const observer of observers) void this.#guarded(() => observer.start?.(request))
    const begun = performance.now()
    return {
      end: (how) => {
        const end: RequestEnd = { ...how, durationMs: performance.now() - begun }
        const waits = observers.map((observer) => this.#guarded(() => observer.end?.(request, end)))
        const pending = waits.filter((wait) => wait !== undefined)
        return pending.length === 0 ? undefined : Promise.all(pending).then(() => undefined)
      },
    }
  }

  /** The method of a call, and the name or URI of what it wants to use. */
  nameOf({ method, params }: Call): Pick<ObservedRequest, 'target'> & { readonly method: string } {
    const key = methodRow(method)?.named ?? this.targets.get(method)
    const target = key === undefined ? undefined : params[key]
    return typeof target === 'string' ? { method, target } : { method }
  }

  #describe(call: Call, size: number): ObservedRequest {
    const { peer, source } = call
    return {
      ...this.nameOf(call),
      revision: peer.dialect.revision,
      size,
      reference: call.reference,
      ...describeSource(source),
      ...(peer.client !== undefined && { client: peer.client }),
    }
  }

  /** Calls an observer; its failure is reported and never reaches the request. */
  #guarded(act: () => void | Promise<void>): Promise<void> | undefined {
    try {
      const wait = act()
      return wait instanceof Promise ? wait.catch(this.#report) : undefined
    } catch (error) {
      this.#report(error)
      return undefined
    }
  }
}

/** A request under observation. */
export interface Observed {
  /** Shows the end to the observers; a promise when one of them delays the response. */
  end(how: Omit<RequestEnd, 'durationMs'>): Promise<void> | undefined
}

/** How a result ends its request. */
export function outcomeOf(result: Result): 'result' | 'tool_error' {
  return result['isError'] === true ? 'tool_error' : 'result'
}

function describeRejected({ method, size, source }: RejectedRequest): ObservedRequest {
  return { size, ...(method !== undefined && { method }), ...describeSource(source) }
}

function describeSource({ auth, ip }: RequestSource): Pick<ObservedRequest, 'auth' | 'ip'> {
  return { ...(auth !== undefined && { auth }), ...(ip !== undefined && { ip }) }
}
