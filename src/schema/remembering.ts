import { rememberingValibot } from './remembering-valibot.ts'
import { rememberingZod } from './remembering-zod.ts'
import type { StandardSchema } from './schema.ts'
import type { Use } from './shown.ts'

/**
 * A schema that does the same as one that contains itself, but checks no part of a value twice against the same alternatives: without that,
 * the work may double with every level. Undefined if the schema cannot be copied.
 */
export function toRemembering(schema: StandardSchema, use: Use): StandardSchema | undefined {
  const { vendor } = schema['~standard']
  try {
    if (vendor === 'zod') return rememberingZod(schema)
    if (vendor === 'valibot') return rememberingValibot(schema, use)
    // Arktype never checks a part twice against the same alias.
    return vendor === 'arktype' ? schema : undefined
  } catch {
    // A library may change what we know of its schemas.
    return undefined
  }
}
