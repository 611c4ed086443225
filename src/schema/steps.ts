import { isObject } from './keywords.ts'
import { multiplies } from './recursion.ts'
import { toSubschemas, type Schema } from './subschemas.ts'

/**
 * How many steps a checker takes that compares every part of a value with every alternative, or more. Counting takes a step for
 * each part and schema, and the result is Infinity if these are more than `most`.
 */
export type StepCounter = (value: unknown, most: number) => number

/** Checking so many characters of a text takes about as long as a step. */
const CHARS_PER_STEP = 200

/** How many steps it takes to check a part alone, which is more for a long text. */
export function stepsOf(part: unknown): number {
  return typeof part === 'string' ? 1 + Math.floor(part.length / CHARS_PER_STEP) : 1
}

/** Counts steps for a schema; undefined if they grow only with the size of a value. */
export function toStepCounter(root: unknown): StepCounter | undefined {
  if (!multiplies(root)) return undefined
  const subschemas = toSubschemas(root)
  return (value, most) => {
    let left = most
    /** By schema and part. Parts without members are all alike. */
    const known = new Map<Schema, Map<unknown, number>>()
    return count(root, value)

    function count(schema: unknown, part: unknown): number {
      return typeof part === 'string' ? stepsOf(part) * countOne(schema, undefined) : countOne(schema, part)
    }

    function countOne(schema: unknown, part: unknown): number {
      if (!isObject(schema)) return 1
      let counts = known.get(schema)
      if (counts === undefined) known.set(schema, (counts = new Map()))
      const parent = typeof part === 'object' && part !== null ? part : undefined
      let steps = counts.get(parent)
      if (steps !== undefined) return steps
      if (left-- <= 0) return Infinity
      // Marks the part while it is being counted: the check of a part that contains itself never ends.
      counts.set(parent, Infinity)
      const { here, named, members } = subschemas(schema)
      steps = 1
      for (const sub of here) steps += count(sub, part)
      // Of many names, `Object.entries` takes much longer.
      for (const name of parent === undefined ? [] : Object.keys(parent)) {
        const below = (parent as Readonly<Record<string, unknown>>)[name]
        if (named.has(name)) steps += count(named.get(name), below)
        for (const sub of members) steps += count(sub, below)
      }
      counts.set(parent, steps)
      return steps
    }
  }
}
