import type { Duration } from '../base/duration.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Advice } from '../schema/schema.ts'
import type { Context } from '../server/context.ts'
import type { Icon } from '../protocol/spec/2026-07-28.ts'
import type { Hints } from '../server/register.ts'
import type { Delivered, Returns, ToolEntry } from './types.ts'

/**
 * Defines tools by name, each typed by its own schemas. Use it to define many tools, and to type a client.
 * A tool that needs the additions of `provide` declares its context: `(input, ctx: OrderContext) => …`.
 */
export function defineTools<
  const In = Readonly<Record<string, unknown>>,
  const Out extends { readonly [Name in keyof In]: unknown } = { readonly [Name in keyof In]: unknown },
  Ctx extends Context = Context,
>(
  // `ToolFacts` is written out, because a named type here makes compiling each tool about 10 % slower.
  tools: {
    readonly [Name in keyof In]: {
      readonly title?: string | undefined
      readonly description?: string | undefined
      readonly icons?: readonly Icon[] | undefined
      readonly _meta?: JsonObject | undefined
      readonly visible?: ((context: Ctx) => boolean) | undefined
      readonly scopes?: readonly string[] | undefined
      readonly hints?: Hints | undefined
      readonly timeout?: Duration | undefined
      readonly input?: (In[Name] & Advice<In[Name]>) | undefined
      readonly run: (input: Delivered<In[Name]>, context: Ctx) => Returns<Out[Name]>
    }
  } & {
    // `visible` and `run` are repeated for maps whose tools contain only functions: there `In` keeps its default.
    readonly [Name in keyof Out]: {
      readonly output?: (Out[Name] & Advice<Out[Name]>) | undefined
      readonly visible?: unknown
      readonly run?: unknown
    }
  },
): NoInfer<{ readonly [Name in keyof In]: ToolEntry<In[Name], Out[Name], Ctx> }> {
  return tools as never
}
