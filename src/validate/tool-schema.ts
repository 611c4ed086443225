import { inspect } from '../schema/inspect.ts'
import { KEYWORDS, subschemasOf } from '../schema/keywords.ts'
import { sizeProblem, TOO_SLOW, type PatternTime } from '../schema/peer-size.ts'
import { toPeerChecker } from '../schema/raw-checker.ts'
import { SchemaError } from '../schema/schema-error.ts'
import { isObject, type Message } from './message.ts'

/** What is wrong with a schema: it is no JSON Schema, or one that careful clients do not use. */
export interface SchemaProblem {
  readonly isInvalid: boolean
  readonly text: string
  /** Whether it was not read, because the patterns of the server take too long to analyse. */
  readonly isUnread?: true | undefined
}

/** The time of this process for the patterns of the server that is validated. */
export const RUN_TIME: PatternTime = { left: 500, at: 0 }

/** Why a value does not fit the output schema of a tool; undefined if it does, or if the schema cannot be used. */
export async function misfit(schema: Message, value: unknown): Promise<string | undefined> {
  try {
    if (sizeProblem(schema, RUN_TIME) !== undefined) return undefined
    const checked = await toPeerChecker(schema, 'output').check(value)
    return checked.ok || checked.undecided === true ? undefined : checked.issue
  } catch {
    // Another rule judges schemas that cannot be used.
    return undefined
  }
}

/** Problems of schemas that are valid: their size, their dialect, references to elsewhere, and patterns that may take very long. */
const VALID =
  /^(?:has more than|is nested|contains more|expands|has an unsafe|is written in|uses \$rec|has an \$id|refers to .* outside)/

/** What is wrong with the schema of a tool. */
export function schemaProblem(schema: Message, time?: PatternTime): SchemaProblem | undefined {
  try {
    const size = sizeProblem(schema, time)
    if (size !== undefined)
      return {
        isInvalid: false,
        text: /^the schema (.*)$/.exec(size)?.[1] ?? 'has patterns that take too long',
        ...(size === TOO_SLOW && { isUnread: true }),
      }
    inspect(schema)
    return undefined
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    const { problem, pointer } = error
    return { isInvalid: !VALID.test(problem), text: `${pointer === '#' ? '' : `at ${pointer} `}${problem}` }
  }
}

/** Keywords that model vendors often reject or ignore; the list is our judgement. */
const RARE: ReadonlySet<string> = new Set([
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'patternProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contains',
  '$dynamicRef',
])
/** Vendors reject these at the top of an input schema. */
const NOT_AT_TOP = ['oneOf', 'anyOf', 'allOf', 'enum', 'not', '$ref']
/** Limits of vendors, as other linters know them. */
const MOST_LEVELS = 10
const MOST_PROPERTIES = 5_000
const MOST_VALUES = 1_000

/** What a model vendor rejects or ignores in an input schema that is valid; undefined if there is nothing. */
export function unportable(schema: Message): string | undefined {
  const top = NOT_AT_TOP.find((key) => Object.hasOwn(schema, key))
  if (top !== undefined) return `has ${top} at the top level`
  const counts = { properties: 0, values: 0 }
  const found = unportableAt(schema, '#', 1, counts)
  if (found !== undefined) return found
  if (counts.properties > MOST_PROPERTIES) return `has more than ${MOST_PROPERTIES} properties`
  return counts.values > MOST_VALUES ? `has more than ${MOST_VALUES} values in enum` : undefined
}

function unportableAt(
  schema: Message,
  at: string,
  level: number,
  counts: { properties: number; values: number },
): string | undefined {
  const { type, properties, enum: values } = schema
  if (level > MOST_LEVELS) return `has more than ${MOST_LEVELS} levels, at ${at}`
  const rare = Object.keys(schema).find((key) => RARE.has(key))
  if (rare !== undefined) return `uses ${rare} at ${at}`
  if (type === 'array' && !Object.hasOwn(schema, 'items') && !Object.hasOwn(schema, 'prefixItems'))
    return `has an array without items at ${at}`
  if (isObject(properties)) counts.properties += Object.keys(properties).length
  if (Array.isArray(values)) counts.values += values.length
  for (const [keyword, value] of Object.entries(schema)) {
    const row = KEYWORDS.get(keyword)
    // Definitions are not levels, and references may be circular.
    if (row === undefined || (typeof value !== 'object' && row.shape !== 'schema')) continue
    for (const [path, sub] of subschemasOf(row.shape, value)) {
      const depth = row.note === true || row.inPlace === true ? level : level + 1
      const found = isObject(sub) ? unportableAt(sub, `${at}/${keyword}${path}`, depth, counts) : undefined
      if (found !== undefined) return found
    }
  }
  return undefined
}
