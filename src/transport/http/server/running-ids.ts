import type { CallTable } from '../../../rpc/call-table.ts'
import { LONG_ID, notedId } from './noted-id.ts'
import type { Outbox } from './outbox.ts'

/** The most characters of the ids that are noted: a client that keeps sending makes its node write all of them again and again. 1,024 requests with numbers fit. */
export const MOST_NOTED = 16_384

/** The requests of a client that run at this node, or whose responses are still on their way to the store: these would be lost with the node. */
export class RunningIds {
  readonly #calls: CallTable
  readonly #outbox: Pick<Outbox, 'sent' | 'stored'>
  /** Requests that have ended, with the numbers of the messages that answer them, in the order of these. */
  readonly #leaving = new Map<string, number>()

  constructor(calls: CallTable, outbox: Pick<Outbox, 'sent' | 'stored'>) {
    this.#calls = calls
    this.#outbox = outbox
    calls.onEnd = (id) => this.#leave(notedId(id))
  }

  /** How many requests have ended whose responses the store may lack. */
  get leaving(): number {
    return this.#leaving.size
  }

  /** Their ids as they are noted. If they are too long together, some are only noted as present. */
  get noted(): readonly string[] {
    this.#forgetStored()
    return atMost(MOST_NOTED, this.#all())
  }

  *#all(): Iterable<string> {
    const { sent } = this.#outbox
    // One that was cancelled has no response.
    for (const [id, number] of this.#leaving) if (number <= sent) yield id
    for (const id of this.#calls.ids) yield notedId(id)
  }

  /** A request ends: its response is the next message, if it has one. */
  #leave(id: string): void {
    this.#forgetStored()
    this.#leaving.delete(id)
    this.#leaving.set(id, this.#outbox.sent + 1)
  }

  #forgetStored(): void {
    const { stored } = this.#outbox
    for (const [id, number] of this.#leaving) {
      if (number > stored) return
      this.#leaving.delete(id)
    }
  }
}

/** Different ids that have so many characters together, as they are noted. If there are more, the others are only noted as present. */
export function atMost(characters: number, ids: Iterable<string>): readonly string[] {
  const noted = new Set<string>()
  let left = characters
  for (const id of ids) {
    if (noted.has(id)) continue
    left -= id.length
    if (left < 0) return [...noted.add(LONG_ID)]
    noted.add(id)
  }
  return [...noted]
}
