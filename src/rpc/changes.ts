import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Session } from './session.ts'

/** A notification of an extension. */
export interface ExtensionNotice {
  readonly kind: 'extension'
  readonly id: string
  readonly method: string
  readonly params: JsonObject
  /** Tells a session of it, if its client declared the extension. */
  tell(session: Session): void
}

/** Something that clients may want to hear about. */
export type Change =
  | { readonly kind: 'tools' | 'prompts' | 'resources' }
  | { readonly kind: 'resource'; readonly uri: string }
  | ExtensionNotice

export type ChangeListener = (change: Change) => void

/** Tells every listener about every change. A listener that throws does not keep the others from hearing. */
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

  /** Adds a listener and returns what removes it. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
