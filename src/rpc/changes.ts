import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Session } from './session.ts'

/** A notification defined by an extension. */
export interface ExtensionNotice {
  readonly kind: 'extension'
  readonly id: string
  readonly method: string
  readonly params: JsonObject
  /** Sends it to a session whose client declared the extension. */
  tell(session: Session): void
}

export interface ResourceChange {
  readonly kind: 'resource'
  readonly uri: string
  /** Whether the resource is restricted; its URI is sent only to callers that subscribed to it. */
  isForSome(): boolean
}

/** A change that clients may want to be notified of. */
export type Change = { readonly kind: 'tools' | 'prompts' | 'resources' } | ResourceChange | ExtensionNotice

export type ChangeListener = (change: Change) => void

/** Passes every change to every listener. A listener that throws does not affect the others. */
export class Changes {
  readonly #listeners = new Set<ChangeListener>()

  get listeners(): number {
    return this.#listeners.size
  }

  publish(change: Change): void {
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }

  /** Adds a listener and returns a function that removes it. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
