import { untrustedText } from '../base/untrusted-text.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { checkWord } from '../base/options.ts'
import { printable } from '../errors/printable.ts'

/** How far a client is with its server. */
export type State = 'connecting' | 'ready' | 'reconnecting' | 'closed'

/** What a client tells about besides results. */
export interface ClientEvents {
  readonly state: State
  /** A log message of the server. */
  readonly log: { readonly level: string; readonly logger?: string; readonly data: unknown }
  /** A list or a resource changed. */
  readonly change:
    | { readonly kind: 'tools' | 'prompts' | 'resources' }
    | { readonly kind: 'resource'; readonly uri: string }
  /** Changes may have happened of which nobody told; what is watched counts as changed. */
  readonly missed: undefined
  /** The user is done at a URL that a server asked to visit. */
  readonly elicited: { readonly elicitationId: string }
  /** What a server process wrote to stderr. */
  readonly stderr: string
  /** Something went wrong that did not fail a request. */
  readonly warning: string
  /** Any other notification. */
  readonly notification: { readonly method: string; readonly params: JsonObject }
}

type Listener<Name extends keyof ClientEvents> = (event: ClientEvents[Name]) => void

/** The name of every event. */
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

/** Listeners by event. One that throws does not keep the others from hearing. */
export class Emitter {
  readonly #listeners = new Map<keyof ClientEvents, Set<Listener<never>>>()

  /** Adds a listener; returns what removes it. */
  on<Name extends keyof ClientEvents>(name: Name, listener: Listener<Name>): () => void {
    checkWord('on', 'event', name, EVENTS)
    let set = this.#listeners.get(name)
    if (set === undefined) this.#listeners.set(name, (set = new Set()))
    set.add(listener)
    return () => void set.delete(listener)
  }

  emit<Name extends keyof ClientEvents>(name: Name, event: ClientEvents[Name]): void {
    const told = name === 'warning' ? (printable(event as string) as ClientEvents[Name]) : event
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        ;(listener as Listener<Name>)(told)
      } catch (error) {
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }
}

/** The change that a notification reports; undefined when it reports none. */
export function changeOf(method: string, params: JsonObject): ClientEvents['change'] | undefined {
  if (method === 'notifications/resources/updated')
    return { kind: 'resource', uri: untrustedText(params['uri']) }
  const kind = LISTS.get(method)
  return kind === undefined ? undefined : { kind }
}

const LISTS: ReadonlyMap<string, 'tools' | 'prompts' | 'resources'> = new Map([
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/prompts/list_changed', 'prompts'],
  ['notifications/resources/list_changed', 'resources'],
])
