import { entriesOf, isObject, KEYWORDS, subschemasOf } from './keywords.ts'
import { toResolver } from './reference.ts'

/** A schema whose expansion is no larger than this is checked directly. */
const MAX_WRITTEN_OUT = 10_000

/**
 * Whether one part of a value may be checked against the same subschema many times: the schema has alternatives, and its
 * expansion without references is very large or infinite. Checked naively, it doubles the work with every level.
 */
export function multiplies(root: unknown): boolean {
  const sizes = new Map<object, number>()
  const resolve = toResolver(root)
  let branches = false
  return sizeOf(root) > MAX_WRITTEN_OUT && branches

  function sizeOf(schema: unknown): number {
    if (!isObject(schema)) return 0
    const known = sizes.get(schema)
    if (known !== undefined) return known
    // Marks the schema while it is being counted: meeting it again means a cycle.
    sizes.set(schema, Infinity)
    let sum = 1
    let ways = 0
    for (const [keyword, value] of entriesOf(schema)) {
      const row = KEYWORDS.get(keyword)
      if (value === undefined || row === undefined || row.note === true) continue
      const subs = isReference(keyword)
        ? [resolve(value as string)]
        : subschemasOf(row.shape, value).map(([, sub]) => sub)
      const count = subs.filter(isObject).length
      // Several patterns may match one name, and its value is then checked against the schema of each.
      ways += row.inPlace === true || keyword === 'patternProperties' ? count : Math.min(count, 1)
      for (const sub of subs) sum += sizeOf(sub)
    }
    if (ways > 1) branches = true
    sizes.set(schema, sum)
    return sum
  }
}

/** Whether a keyword refers to another place in the schema. */
function isReference(keyword: string): boolean {
  return keyword === '$ref' || keyword === '$dynamicRef'
}

/** Says of the parts of a schema whether a reference is anywhere inside. It looks at each part once. */
export function findReferences(): (schema: unknown) => boolean {
  const known = new Map<object, boolean>()
  return hasReference

  function hasReference(schema: unknown): boolean {
    if (!isObject(schema)) return false
    let has = known.get(schema)
    if (has === undefined) known.set(schema, (has = entriesOf(schema).some(isOrHasReference)))
    return has
  }

  function isOrHasReference([keyword, value]: readonly [string, unknown]): boolean {
    if (isReference(keyword)) return true
    const row = KEYWORDS.get(keyword)
    if (row === undefined || value === undefined) return false
    return subschemasOf(row.shape, value).some(([, sub]) => hasReference(sub))
  }
}
