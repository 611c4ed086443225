/** An object with so few members is merged about as fast as it is checked. */
const FEW = 256

/** Comparing so many pairs of names takes a fraction of a second. */
const MOST_PAIRS = 2 ** 28

/** The part of a schema of zod that says what it is made of. */
interface ZodSchema {
  readonly _zod: { readonly def: { readonly type: string }; readonly innerType?: unknown }
}

/** The kinds of schemas whose parts all check the same value. */
const SAME_VALUE = new Set(['intersection', 'union', 'pipe'])

/**
 * How many times a library merges one object that it has checked: once for each intersection of zod that the object may have to pass.
 * Each time, zod compares every name of the object with every other. Libraries that merge in linear time count as 0.
 */
export function countMerges(root: unknown): number {
  const known = new Map<unknown, number>()
  return countIn(root)

  function countIn(schema: unknown): number {
    if (!isZod(schema)) return 0
    let count = known.get(schema)
    if (count !== undefined) return count
    // Marks the schema while it is being counted: it may contain itself.
    known.set(schema, 0)
    const { def, innerType } = schema._zod
    const counts = [innerType, ...Object.values(def).flatMap(partsOf)].map(countIn)
    if (!SAME_VALUE.has(def.type)) count = Math.max(...counts)
    else count = counts.reduce((sum, each) => sum + each, def.type === 'intersection' ? 1 : 0)
    known.set(schema, count)
    return count
  }
}

/** The schemas in a member of a definition: one, a list of them, or a map. */
function partsOf(member: unknown): readonly unknown[] {
  if (typeof member !== 'object' || member === null) return []
  return isZod(member) ? [member] : Object.values(member)
}

function isZod(schema: unknown): schema is ZodSchema {
  const { _zod: inner } = (schema ?? {}) as { readonly _zod?: { readonly def?: unknown } | undefined }
  return typeof inner?.def === 'object' && inner.def !== null
}

/** Whether a library would compare too many pairs of names if it merged the objects in a value so many times. */
export function isSlowToMerge(value: unknown, merges: number): boolean {
  let left = merges === 0 ? Infinity : MOST_PAIRS / merges
  return left !== Infinity && exceeds(value)

  function exceeds(part: unknown): boolean {
    if (typeof part !== 'object' || part === null) return false
    if (Array.isArray(part)) return part.some(exceeds)
    const names = Object.keys(part)
    if (names.length > FEW) left -= names.length ** 2
    return left < 0 || names.some((name) => exceeds((part as Readonly<Record<string, unknown>>)[name]))
  }
}
