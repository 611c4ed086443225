import { partsIn } from './pieces.ts'
import type { StepRules } from './step-rules.ts'
import { toEstimator, type Estimator, type StepsOf } from './steps.ts'
import { TOO_LONG, TOO_MUCH } from './work.ts'

/**
 * The most steps for one value: a library takes a twentieth to an eighth of a microsecond for each, so about a second. A value of
 * more than a million parts, which only raised limits let in, may take as many for each part.
 */
const MOST_STEPS = 8_000_000
const STEPS_PER_PART = 8

/** The most bytes that defaults may add to a value. */
const MOST_ADDED = 67_108_864
/** Defaults that add fewer bytes are not counted: the number of requests limits them. */
const FEW_ADDED = 65_536

/** The limits on what a library may take to check one value, estimated from the JSON Schema that it shows. */
export class Cost {
  /** The most parts of a value that is certainly within the limits, so that it need not be counted. */
  readonly cheap: number
  /** The most steps of one part with one schema. */
  readonly widest: number
  readonly #estimator: Estimator

  constructor(json: unknown, rules: StepRules) {
    this.#estimator = toEstimator(json, rules)
    const { steps, bytes, widest } = this.#estimator.perPart
    const few = bytes === 0 ? Infinity : FEW_ADDED / bytes
    this.cheap = Math.floor(this.multiplies ? few : Math.min(few, MOST_STEPS / steps))
    this.widest = widest
  }

  /** Whether steps may grow faster than a value. They are then limited while they are taken. */
  get multiplies(): boolean {
    return this.#estimator.multiplies
  }

  /** The steps of a part alone. */
  get stepsOf(): StepsOf {
    return this.#estimator.stepsOf
  }

  /** The steps of a value, or Infinity. */
  count(value: unknown, most: number): number {
    return this.#estimator.estimate(value, most).steps
  }

  /** Why a value is not checked: that would take too long, or the value would become too large. */
  problemOf(value: unknown): string | undefined {
    if (this.multiplies && this.#estimator.perPart.bytes === 0) return undefined
    let { steps, bytes } = this.#estimator.estimate(value, MOST_STEPS)
    if (steps > MOST_STEPS && !this.multiplies) {
      const most = STEPS_PER_PART * partsIn(value)
      if (most <= MOST_STEPS) return TOO_LONG
      ;({ steps, bytes } = this.#estimator.estimate(value, most))
      if (steps > most) return TOO_LONG
    }
    return bytes > MOST_ADDED ? TOO_MUCH : undefined
  }
}
