import { untrustedText } from '../base/untrusted-text.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { checkWord } from '../base/options.ts'
import { guarded } from '../base/guarded.ts'
import { oneLine } from '../errors/printable.ts'

/**
 * The state of the connection: `connecting` until it is open for the first time, or again with the credentials of another login, `ready`, `reconnecting` from its loss until the
 * next request or watcher has opened another, and `closed` for good.
 */
export type State = 'connecting' | 'ready' | 'reconnecting' | 'closed'

/** The events of a client, by name. */
export interface ClientEvents {
  /** The new state, whenever it changes. */
  readonly state: State
  /** A log message of the server. `level` is `debug` to `emergency`, `logger` names its part of the server, and `data` is usually text. `setLogLevel` asks for them. */
  readonly log: { readonly level: string; readonly logger?: string | undefined; readonly data: unknown }
  /** A list or a resource changed: `kind` says which, and `uri` names the resource. */
  readonly change:
    | { readonly kind: 'tools' | 'prompts' | 'resources' }
    | { readonly kind: 'resource'; readonly uri: string }
  /** The client may have missed changes, so treat everything watched as changed. */
  readonly missed: undefined
  /** The user has finished at a URL that the server asked to open; `elicitationId` is that of the question. */
  readonly elicited: { readonly elicitationId: string }
  /** Output of a server program on stderr, line by line. Without a listener it is lost. */
  readonly stderr: string
  /** A problem that did not make a request fail, such as a retry or a lost connection, in one line. Without a listener it is lost. */
  readonly warning: string
  /** Any other notification, with its `method` and its `params`. */
  readonly notification: { readonly method: string; readonly params: JsonObject }
}

type Listener<Name extends keyof ClientEvents> = (event: ClientEvents[Name]) => void

export const EVENTS: readonly (keyof ClientEvents)[] = [
  'state',
  'log',
  'change',
  'missed',
  'elicited',
  'stderr',
  'warning',
  'notification',
]

/** Calls listeners. If one throws, or returns a promise that is rejected, the others are still called, and there is a warning. */
export class Emitter {
  readonly #listeners = new Map<keyof ClientEvents, Set<Listener<never>>>()

  /** Adds a listener. Returns a function that removes it. */
  on<Name extends keyof ClientEvents>(name: Name, listener: Listener<Name>): () => void {
    checkWord('on', 'event', name, EVENTS)
    let set = this.#listeners.get(name)
    if (set === undefined) this.#listeners.set(name, (set = new Set()))
    set.add(listener)
    return () => void set.delete(listener)
  }

  emit<Name extends keyof ClientEvents>(name: Name, event: ClientEvents[Name]): void {
    const value = name === 'warning' ? (oneLine(event as string) as ClientEvents[Name]) : event
    for (const listener of this.#listeners.get(name) ?? []) {
      guarded(
        () => (listener as Listener<Name>)(value),
        (error) => {
          if (name !== 'warning') return this.warn(name, error)
          queueMicrotask(() => {
            throw error
          })
        },
      )
    }
  }

  /** Warns that a listener failed. */
  warn(name: string, error: unknown): void {
    this.emit('warning', `a listener for "${name}" threw ${String(error)}`)
  }
}

/** The members that have the given types. A server chooses how many others there are, so they are not copied. */
export function withTypes(params: JsonObject, types: Readonly<Record<string, string>>): JsonObject {
  const typed: Record<string, unknown> = {}
  for (const name in types) if (typeof params[name] === types[name]) typed[name] = params[name]
  return typed
}

/** The change that a notification reports; undefined for other notifications. */
export function changeOf(method: string, params: JsonObject): ClientEvents['change'] | undefined {
  if (method === 'notifications/resources/updated')
    return { kind: 'resource', uri: untrustedText(params['uri']) }
  const kind = LIST_CHANGED.exec(method)?.[1] as 'tools' | 'prompts' | 'resources' | undefined
  return kind === undefined ? undefined : { kind }
}

const LIST_CHANGED = /^notifications\/(tools|prompts|resources)\/list_changed$/
