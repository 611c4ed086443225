import type { Duration } from './protocol/duration.ts'
import type { JsonObject } from './protocol/jsonrpc.ts'
import type { Context } from './server/context.ts'
import type { Hints, Icon } from './server/register.ts'
import type { Delivered, Returns, ToolEntry } from './types.ts'

/**
 * A flat map of tools, each typed by its own schemas; the way to define many of them, and to type a client.
 * The parameter repeats `ToolEntry`, because a named type there costs the compiler half as much again.
 */
export function defineTools<
  const In,
  const Out extends { readonly [Name in keyof In]: unknown },
  Ctx extends Context = Context,
>(
  tools: {
    readonly [Name in keyof In]: {
      readonly title?: string
      readonly description?: string
      readonly icons?: readonly Icon[]
      readonly _meta?: JsonObject
      readonly visible?: (context: Ctx) => boolean
      readonly scopes?: readonly string[]
      readonly hints?: Hints
      readonly timeout?: Duration
      readonly input?: In[Name]
      readonly run: (input: Delivered<In[Name]>, context: Ctx) => Returns<Out[Name]>
    }
  } & { readonly [Name in keyof Out]: { readonly output?: Out[Name] } },
): NoInfer<{ readonly [Name in keyof In]: ToolEntry<In[Name], Out[Name], Ctx> }> {
  return tools as never
}
