import { isObject } from './keywords.ts'
import { toSubschemas, type Schema, type Subschemas } from './subschemas.ts'

/** How a schema treats a member that it does not describe: it may look at it, rejects its name, or ignores it. */
export type Undeclared = 'checked' | 'rejected' | 'ignored'

/** A place in a value, and what a schema says about the parts there. Only a guess in favour of looking at a part. */
export interface Place {
  readonly undeclared: Undeclared
  /** The members that the schema describes. */
  readonly names: ReadonlySet<string>
  /** The length of the longest text that a schema compares with. */
  readonly longest: number
  /** The place of a part: its name, or its index. */
  below(step: string | number): Place
}

/** A place of which nothing is known. */
export const ANY_PLACE: Place = {
  undeclared: 'checked',
  names: new Set(),
  longest: 0,
  below: () => ANY_PLACE,
}

const FOR_ANY_NAME = ['additionalProperties', 'patternProperties', 'propertyNames', 'unevaluatedProperties']

/** How many schemas are looked at to describe places: a schema that refers to itself may have any number of them. */
const MAX_LOOKED_AT = 100_000

/** The place of a whole value that a schema describes. */
export function toPlace(root: unknown, most: number = MAX_LOOKED_AT): Place {
  const subschemasOf = toSubschemas(root)
  let left = most
  const ids = new Map<unknown, number>()
  /** By the schemas that apply there: a schema that contains itself has few different places. */
  const places = new Map<string, Place>()
  return placeOf([root])

  function placeOf(schemas: readonly unknown[]): Place {
    const all = new Set<unknown>()
    for (const schema of schemas) addHere(all, schema)
    left -= all.size + 1
    if (left < 0) return ANY_PLACE
    const key = [...all]
      .map(idOf)
      .toSorted((a, b) => a - b)
      .join()
    let place = places.get(key)
    if (place === undefined) places.set(key, (place = toOne(all)))
    return place
  }

  function addHere(all: Set<unknown>, schema: unknown): void {
    if (all.has(schema)) return
    all.add(schema)
    if (isObject(schema)) for (const sub of subschemasOf(schema).here) addHere(all, sub)
  }

  function idOf(schema: unknown): number {
    let id = ids.get(schema)
    if (id === undefined) ids.set(schema, (id = ids.size))
    return id
  }

  function toOne(all: ReadonlySet<unknown>): Place {
    const found = [...all].filter(isObject).map(subschemasOf)
    const names = new Set(found.flatMap(({ named }) => [...named.keys()]))
    const known = new Map<string, Place>()
    return {
      undeclared: treatmentBy(all),
      names,
      longest: [...all].flatMap(choicesOf).reduce((most, { length }) => Math.max(most, length), 0),
      below(step) {
        // All parts that are not named are alike.
        const name = names.has(String(step)) ? `=${step}` : ''
        let place = known.get(name)
        if (place === undefined)
          known.set(name, (place = placeOf(found.flatMap((subs) => subsFor(subs, step)))))
        return place
      },
    }
  }

  function choicesOf(schema: unknown): readonly string[] {
    if (!isObject(schema)) return []
    const choices: unknown = [schema['const'], schema['enum']]
    return [choices].flat(2).filter((choice) => typeof choice === 'string')
  }

  function subsFor({ named, members }: Subschemas, step: string | number): readonly unknown[] {
    const name = String(step)
    return named.has(name) ? [named.get(name), ...members] : members
  }

  function treatmentBy(all: ReadonlySet<unknown>): Undeclared {
    let treatment: Undeclared = all.size === 0 ? 'checked' : 'ignored'
    for (const schema of all) {
      if (schema === false) continue
      if (!isObject(schema) || looksAtAll(schema)) return 'checked'
      if (schema['additionalProperties'] === false) treatment = 'rejected'
    }
    return treatment
  }

  /** A schema that says nothing may stand for a check that JSON Schema cannot express. */
  function looksAtAll(schema: Schema): boolean {
    if (FOR_ANY_NAME.some((keyword) => ![undefined, false].includes(schema[keyword] as false))) return true
    const { here } = subschemasOf(schema)
    const { type, properties } = schema
    if (type === undefined) return here.length === 0 && !('enum' in schema || 'const' in schema)
    return [type].flat().includes('object') && properties === undefined && here.length === 0
  }
}
