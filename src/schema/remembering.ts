import { copyValibot, valibotParts, type ValibotPart } from './copy-valibot.ts'
import { copyZod, remembersItself, type ZodInner } from './copy-zod.ts'
import type { Counter } from './counting.ts'
import { Memory, type Run } from './memory.ts'
import { partsIn } from './pieces.ts'
import type { StandardSchema } from './schema.ts'
import type { Use } from './shown.ts'
import { choosing } from './zod-alternatives.ts'

/**
 * A schema that does the same as one that contains itself, but checks no part of a value twice against the same alternatives: without that,
 * the work may double with every level. Undefined if the schema cannot be copied.
 */
export function toRemembering(
  schema: StandardSchema,
  use: Use,
  counter?: Counter,
): StandardSchema | undefined {
  // Arktype never checks a part twice against the same alias.
  return schema['~standard'].vendor === 'arktype' ? schema : toCopy(schema, use, new Memory(), counter)
}

/** A schema that does the same as another, but counts what it does. Undefined if the schema cannot be copied. */
export function toCounting(schema: StandardSchema, use: Use, counter: Counter): StandardSchema | undefined {
  return toCopy(schema, use, undefined, counter)
}

function toCopy(
  schema: StandardSchema,
  use: Use,
  memory: Memory | undefined,
  counter: Counter | undefined,
): StandardSchema | undefined {
  const { vendor } = schema['~standard']
  try {
    if (vendor === 'zod') return zodCopy(schema, remembersItself(schema) ? undefined : memory, counter)
    return vendor === 'valibot' ? valibotCopy(schema, use, memory, counter) : undefined
  } catch {
    // A library may change what we know of its schemas.
    return undefined
  }
}

function zodCopy(schema: StandardSchema, memory?: Memory, counter?: Counter): StandardSchema | undefined {
  if (memory === undefined && counter === undefined) return schema
  const change = (run: Run, inner: ZodInner): Run => {
    const { def } = inner
    inner.parse = choosing(inner.parse, inner)
    const multiplies = def.type === 'union' || def.type === 'intersection'
    const changed = multiplies && memory !== undefined ? memory.once(run) : run
    return counter?.count(changed, def.type, zodSteps(def)) ?? changed
  }
  return copyZod(schema, change, beginning(memory, counter))
}

function zodSteps({ type, catchall }: ZodInner['def']): Steps {
  if (type === 'intersection') return stepsToMerge
  return type === 'record' || catchall !== undefined ? stepsOfNames : 1
}

function valibotCopy(
  schema: StandardSchema,
  use: Use,
  memory?: Memory,
  counter?: Counter,
): StandardSchema | undefined {
  return copyValibot(schema, use, {
    change(run, part, made, isClosed) {
      const isLazy = part.getter !== undefined && part.pipe === undefined
      const changed = isLazy && memory !== undefined ? memory.once(run) : run
      if (counter === undefined) return changed
      countAdded(counter, part, made)
      return counter.count(changed, part.type, valibotSteps(part, isClosed))
    },
    begin: beginning(memory, counter),
    copiesClosed: memory === undefined,
  })
}

/** The steps of a run, for any value or for this one. */
type Steps = number | ((value: unknown) => number)

/** Comparing a part with so many constants, or looking for so many members, takes a step. */
const CONSTANTS_PER_STEP = 16
const MEMBERS_PER_STEP = 2
/** The steps of a problem that nobody sees: what a fallback replaces, or one in a closed schema. */
const CLOSED = 4

/** The kinds of valibot that read every name of an object. */
const READING_NAMES = /record|loose|strict|rest/
/** Reading a name, and copying the member of a large object. */
const STEPS_PER_NAME = 4

function stepsOfNames(value: unknown): number {
  return typeof value === 'object' && value !== null ? 1 + STEPS_PER_NAME * Object.keys(value).length : 1
}

/** Zod compares each name of an object with each of the other side of an intersection. */
const PAIRS_PER_STEP = 32

function stepsToMerge(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  const parts: readonly unknown[] = Object.values(value)
  const pairs = Array.isArray(value) ? 0 : parts.length ** 2 / PAIRS_PER_STEP
  return parts.reduce<number>((sum, each) => sum + stepsToMerge(each), 1 + pairs)
}

/** Missing members do not run. */
function valibotSteps(part: ValibotPart, isClosed: boolean): Steps {
  const { type, entries = {}, options = [], fallback } = part
  if (isClosed) {
    const wide = valibotParts(part).length
    return (value) => wide * (CLOSED + partsIn(value))
  }
  const replaced = fallback === undefined ? 0 : CLOSED
  const steps =
    1 + replaced + options.length / CONSTANTS_PER_STEP + Object.keys(entries).length / MEMBERS_PER_STEP
  return READING_NAMES.test(type) ? (value) => steps + stepsOfNames(value) : steps
}

/** Lets a copy count what it puts in the place of other values. What a default returns is copied, even if it is always the same. */
function countAdded(
  counter: Counter,
  { default: filling, fallback }: ValibotPart,
  made: Record<string, unknown>,
): void {
  if (filling !== undefined)
    made['default'] = (...given: unknown[]) => {
      const value: unknown = typeof filling === 'function' ? Reflect.apply(filling, made, given) : filling
      counter.add(value, true)
      return value
    }
  if (typeof fallback === 'function')
    made['fallback'] = (...given: unknown[]) => {
      const value: unknown = Reflect.apply(fallback, made, given)
      counter.add(value, false)
      return value
    }
}

function beginning(memory: Memory | undefined, counter: Counter | undefined): (run: Run) => Run {
  return (run) => {
    const begun = memory?.from(run) ?? run
    return counter?.from(begun) ?? begun
  }
}
