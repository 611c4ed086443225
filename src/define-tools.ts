import type { AnySchema } from './schema/schema.ts'
import type { Context } from './server/context.ts'
import type { ToolEntry } from './types.ts'

/** A flat map of tools, each typed by its own schemas; the way to define many of them, and to type a client. */
export function defineTools<
  const In extends Record<string, AnySchema | undefined>,
  const Out extends { readonly [Name in keyof In]?: AnySchema | undefined },
  Ctx extends Context = Context,
>(tools: { readonly [Name in keyof In]: ToolEntry<In[Name], Out[Name], Ctx> }): typeof tools {
  return tools
}
