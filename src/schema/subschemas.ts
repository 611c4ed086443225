import { entriesOf, KEYWORDS, subschemasOf } from './keywords.ts'
import { toResolver } from './reference.ts'

/** A schema that is an object. */
export type Schema = Readonly<Record<string, unknown>>

/** Where the subschemas of a schema apply. */
export interface Subschemas {
  /** To the same value. */
  readonly here: readonly unknown[]
  /** To the member with that name or index. */
  readonly named: ReadonlyMap<string, unknown>
  /** To any member. */
  readonly members: readonly unknown[]
}

/** Finds the subschemas of the parts of a schema. Each part is read once. */
export function toSubschemas(root: unknown): (schema: Schema) => Subschemas {
  const resolve = toResolver(root)
  const read = new Map<Schema, Subschemas>()
  return (schema) => {
    let found = read.get(schema)
    if (found === undefined) read.set(schema, (found = find(schema)))
    return found
  }

  function find(schema: Schema): Subschemas {
    const here: unknown[] = []
    const named = new Map<string, unknown>()
    const members: unknown[] = []
    for (const [keyword, value] of entriesOf(schema)) {
      const row = KEYWORDS.get(keyword)
      if (value === undefined || row === undefined || row.note === true) continue
      if (keyword === '$ref' || keyword === '$dynamicRef') here.push(resolve(value as string))
      else if (keyword === 'properties' || keyword === 'prefixItems')
        for (const [name, sub] of entriesOf(value)) named.set(name, sub)
      else
        for (const [, sub] of subschemasOf(row.shape, value))
          (row.inPlace === true ? here : members).push(sub)
    }
    return { here, named, members }
  }
}
