import { textBytes } from '../base/weight.ts'
import { MOST_CHANGES, MOST_NAME_BYTES } from '../rpc/session-store.ts'

/** The names of the fields that the last changes of a session concerned. */
export class FieldNames {
  /** The names of each version, the oldest first. */
  #kept: { readonly names: readonly string[]; readonly bytes: number }[] = []
  #bytes = 0

  /** Remembers a change. Each follows the one before. */
  add(names: readonly string[]): void {
    let bytes = 0
    for (const name of names) bytes += textBytes(name)
    this.#kept.push({ names, bytes })
    this.#bytes += bytes
    while (this.#kept.length > MOST_CHANGES || this.#bytes > MOST_NAME_BYTES)
      this.#bytes -= this.#kept.shift()?.bytes ?? 0
  }

  /** The names that the last changes concerned; undefined if there were more than it remembers. */
  ofLast(count: number): ReadonlySet<string> | undefined {
    if (count < 0 || count > this.#kept.length) return undefined
    return new Set(this.#kept.slice(this.#kept.length - count).flatMap(({ names }) => names))
  }
}
