import { endOfTurn, inTurn } from '../base/turn.ts'
import { put } from '../base/copy-of.ts'
import type { StandardResult } from './schema.ts'
import type { StepsOf } from './steps.ts'
import { TOO_LONG, TooCostly } from './work.ts'

type Result = StandardResult<unknown>

/** The check of a library. */
export type Validate = (value: unknown) => Result | Promise<Result>

/** How many steps the check of a value may take: so many for each part, more for a long text or a wide schema, but always the least, which take a hundredth of a second or two. */
const STEPS_PER_PART = 40
const LEAST_STEPS = 100_000
const MOST_STEPS = 2_000_000

/**
 * The check of a library with a limit, for one value and its pieces. If the value may take more steps than are left, the library
 * first checks a copy that counts how often it is read: many libraries give up wrong alternatives early. Throws TooCostly.
 */
export function limitSteps(
  validate: Validate,
  cost: { count(value: unknown, most: number): number; readonly widest: number; readonly stepsOf: StepsOf },
  whole: unknown,
): Validate {
  const perPart = Math.max(STEPS_PER_PART, 2 * cost.widest)
  const wanted = stepsIn(whole, MOST_STEPS / perPart, cost.stepsOf) * perPart
  const most = Math.max(LEAST_STEPS, Math.min(MOST_STEPS, wanted))
  let left = most
  const spend = (steps: number): void => {
    left -= steps
    if (left < 0) throw new TooCostly(TOO_LONG)
  }
  return (value) => {
    const end = endOfTurn()
    const isWhole = value === whole
    const steps = cost.count(value, isWhole ? most : left)
    // The pieces of a value have taken as many steps as the whole will. Counting reads would take longer than to take them again.
    if (isWhole && steps <= most) return validate(value)
    if (steps <= left) {
      spend(steps)
      return validate(value)
    }
    return inTime(end, () => {
      const tried = validate(metered(value, spend, cost.stepsOf))
      return 'then' in tried ? tried.then(() => validate(value)) : inTime(end, () => validate(value))
    })
  }
}

/** Acts at once, or in another turn if this one is over. */
function inTime(end: number, act: () => Result | Promise<Result>): Result | Promise<Result> {
  return performance.now() > end ? inTurn(act) : act()
}

/** The steps that it takes to check every part of a value once; no more than `most` are counted. A value of our own may contain itself. */
function stepsIn(value: unknown, most: number, stepsOf: StepsOf): number {
  let steps = 0
  const rest = [value]
  while (rest.length > 0 && steps < most) {
    const part = rest.pop()
    steps += stepsOf(part)
    if (isPlain(part))
      for (const name of Object.keys(part)) rest.push((part as Record<string, unknown>)[name])
  }
  return Math.min(steps, most)
}

/** A copy of a value that calls `spend` each time a part is read, with the steps that its check takes. */
function metered(value: unknown, spend: (steps: number) => void, stepsOf: StepsOf): unknown {
  const read = (part: unknown): unknown => (spend(stepsOf(part)), part)
  const traps: ProxyHandler<object> = {
    get: (target, name) => read(Reflect.get(target, name)),
    has: (target, name) => (spend(1), Reflect.has(target, name)),
    ownKeys: (target) => (spend(1), Reflect.ownKeys(target)),
    getOwnPropertyDescriptor: (target, name) => (spend(1), Reflect.getOwnPropertyDescriptor(target, name)),
  }
  /** A value of our own may contain a part several times, or itself. */
  const copies = new Map<object, object>()
  return copy(value)

  function copy(part: unknown): unknown {
    if (!isPlain(part)) return part
    const known = copies.get(part)
    if (known !== undefined) return known
    const target = Array.isArray(part) ? [] : {}
    const proxy = new Proxy<object>(target, traps)
    copies.set(part, proxy)
    for (const name of Object.keys(part)) put(target, name, copy((part as Record<string, unknown>)[name]))
    return proxy
  }
}

/** Whether a part is a list or an object as in JSON. What a handler returns may have others, such as dates, with their own methods. */
function isPlain(part: unknown): part is object {
  if (typeof part !== 'object' || part === null) return false
  return (
    Array.isArray(part) || [Object.prototype, null].includes(Object.getPrototypeOf(part) as object | null)
  )
}
