import type { Outcome, Run } from './memory.ts'
import { isZod, type ZodSchema } from './merges.ts'
import type { ZodInner } from './copy-zod.ts'

/** The constants that an object needs at some of its members, to fit an alternative. */
type Constants = readonly (readonly [member: string, values: ReadonlySet<unknown>])[]

interface Alternative {
  readonly schema: ZodSchema
  readonly constants: Constants
}

/**
 * Parses a union as zod does, but leaves out the alternatives that another constant in an object rules out: zod describes all that is wrong with
 * each, for every node of a tree. If none of the others fits, zod tries all of them, for its problems.
 */
export function choosing(parse: Run, { def }: ZodInner): Run {
  const isPlain = def.type === 'union' && def.discriminator === undefined && def.inclusive !== false
  const options = def['options']
  if (!isPlain || !Array.isArray(options) || !options.every(isZod)) return parse
  let alternatives: readonly Alternative[] | undefined
  return (part, context) => {
    const { value } = part
    if (typeof value !== 'object' || value === null) return parse(part, context)
    alternatives ??= options.map((schema) => ({ schema, constants: constantsOf(schema) }))
    const left = alternatives.filter(({ constants }) => mayHave(value, constants))
    if (left.length === alternatives.length) return parse(part, context)
    for (const { schema } of left) {
      const outcome = runOf(schema)({ value, issues: [] }, context)
      if ('then' in outcome) return outcome.then((late) => (isFine(late) ? late : parse(part, context)))
      if (isFine(outcome)) return outcome
    }
    return parse(part, context)
  }
}

function isFine({ issues }: Outcome): boolean {
  return issues === undefined || issues.length === 0
}

function runOf(schema: ZodSchema): Run {
  return (schema._zod as unknown as ZodInner).run
}

function mayHave(value: object, constants: Constants): boolean {
  return constants.every(([member, values]) => {
    const own: unknown = (value as Readonly<Record<string, unknown>>)[member]
    // What is missing may have a default.
    return own === undefined || values.has(own)
  })
}

/** The constants of an alternative that is an object; none of others. */
function constantsOf(schema: ZodSchema): Constants {
  const { def, innerType } = schema._zod as unknown as ZodInner
  if (def.type === 'lazy') return isZod(innerType) ? constantsOf(innerType) : []
  if (def.type !== 'object') return []
  const found: [string, ReadonlySet<unknown>][] = []
  for (const [member, part] of Object.entries(def['shape'] as object)) {
    if (!isZod(part) || !['literal', 'enum'].includes(part._zod.def.type)) continue
    const { values } = part._zod as { readonly values?: unknown }
    if (values instanceof Set) found.push([member, values])
  }
  return found
}
