import { LONGEST_MS } from '../base/duration.ts'
import { EXIT } from './exit.ts'
import { Failure } from './failure.ts'

/** The time by which a whole command must be done, if there is one. */
export class Deadline implements Disposable {
  /** Aborts when the time is over, with the failure as its reason; undefined if there is no limit. */
  readonly signal: AbortSignal | undefined
  readonly #timer: NodeJS.Timeout | undefined

  constructor(ms: number | undefined, text: string | undefined) {
    if (ms === undefined) return
    const controller = new AbortController()
    this.signal = controller.signal
    this.#timer = setTimeout(
      () => {
        const hint = 'Give it more time with a larger --total.'
        controller.abort(new Failure(`the command was not done in ${text}`, { hint, exit: EXIT.timeout }))
      },
      Math.min(ms, LONGEST_MS),
    )
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}
