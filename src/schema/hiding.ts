import { isPart, valibotParts, type ValibotPart } from './copy-valibot.ts'
import { isZod, zodPartsOf } from './merges.ts'
import type { StandardSchema } from './schema.ts'
import type { Use } from './shown.ts'
import { rootOf } from './valibot-texts.ts'

/** The members of a schema of zod or valibot whose check may take many steps: parts, alternatives, and what is added. */
const WIDE: ReadonlySet<string> = new Set(
  'shape element items item valueType key entries options left getter default defaultValue catchValue fallback'.split(
    ' ',
  ),
)

/** Whether the JSON Schema of a library shows only one stage of a pipe, and another may take many steps. */
export function hidesParts(schema: StandardSchema, use: Use): boolean {
  try {
    if (isZod(schema))
      return zodPartsOf(schema).some(({ _zod }) => hiddenInZod(_zod.def, use).some(isWideInZod))
    const root = schema['~standard'].vendor === 'valibot' ? rootOf(schema, use) : undefined
    return isPart(root) && valibotParts(root).some((part) => hiddenInValibot(part, use).some(isWideInValibot))
  } catch {
    return false
  }
}

/** What a schema or a check of zod does not show. */
function hiddenInZod(
  { type, check, schema, shape, in: first, out }: Readonly<Record<string, unknown>>,
  use: Use,
): readonly unknown[] {
  if (check === 'property') return [schema]
  if (check === 'properties') return Object.values(shape as object)
  if (type !== 'pipe') return []
  if (use === 'output') return [first]
  // What follows a function is shown.
  return isZod(first) && first._zod.def.type === 'transform' ? [] : [out]
}

function hiddenInValibot({ pipe = [] }: ValibotPart, use: Use): readonly ValibotPart[] {
  const stages = pipe.filter(isPart)
  return use === 'input' ? stages.slice(1) : stages.slice(0, -1)
}

function isWideInZod(schema: unknown): boolean {
  return zodPartsOf(schema).some(({ _zod }) => isWide(_zod.def))
}

function isWideInValibot(schema: ValibotPart): boolean {
  return valibotParts(schema).some(isWide)
}

function isWide(definition: object): boolean {
  return Object.entries(definition).some(([name, value]) => WIDE.has(name) && value !== undefined)
}
