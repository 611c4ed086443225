import type { Duration } from '../base/duration.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Advice } from '../schema/schema.ts'
import type { Context } from '../server/context.ts'
import type { Icon } from '../protocol/spec/2026-07-28.ts'
import type { Hints } from '../server/register.ts'
import type { TaskOption } from '../server/task-option.ts'
import type { Delivered, Returns, ToolEntry } from './types.ts'

/**
 * Defines tools by name, each typed by its own schemas. Use it to define many tools, and to type a client.
 * A tool that needs the additions of `provide` declares its context: `(input, ctx: OrderContext) => …`.
 *
 * @example
 * export const tools = defineTools({
 *   add: { input: z.object({ a: z.number(), b: z.number() }), output: z.number(), run: ({ a, b }) => a + b },
 * })
 * const app = createServer({ name: 'sums', version: '1.0.0', tools })
 */
export function defineTools<
  const In = Readonly<Record<string, unknown>>,
  const Out extends { readonly [Name in keyof In]: unknown } = { readonly [Name in keyof In]: unknown },
  Ctx extends Context = Context,
>(
  // `ToolFacts` is written out, because a named type here makes compiling each tool about 10 % slower.
  tools: {
    readonly [Name in keyof In]: {
      /** The name for people. Default: none; clients show the name for programs. */
      readonly title?: string | undefined
      /** Tells the model what the tool does and when to use it. Default: none. */
      readonly description?: string | undefined
      /** Images for clients to show. Default: none. */
      readonly icons?: readonly Icon[] | undefined
      /** Data for programs, which lists include. Default: none. */
      readonly _meta?: JsonObject | undefined
      /** Whether a caller sees the tool; synchronous. Default: everybody sees it. */
      readonly visible?: ((context: Ctx) => boolean) | undefined
      /** Scopes that the caller must have, all of them, to call the tool. Default: none are needed. */
      readonly scopes?: readonly string[] | undefined
      /** Describes the effects of the tool, such as `{ readOnly: true }`. Default: no hints. */
      readonly hints?: Hints | undefined
      /** The longest that the handler may run, such as `'20s'`. Default: no timeout. */
      readonly timeout?: Duration | undefined
      /** Whether calls may become tasks: `'optional'`, `'required'`, or how in detail. Default: they never do. */
      readonly task?: TaskOption<Delivered<In[Name]>, Ctx> | undefined
      /** The schema of the arguments, an object. Default: the tool takes no arguments. */
      readonly input?: (In[Name] & Advice<In[Name]>) | undefined
      /** The handler: gets the checked arguments and the context of the request. It may be async or a generator. */
      readonly run: (input: Delivered<In[Name]>, context: Ctx) => Returns<Out[Name]>
    }
  } & {
    // `visible` and `run` are repeated for maps whose tools contain only functions: there `In` keeps its default.
    readonly [Name in keyof Out]: {
      /** The schema of what `run` returns. Default: none, so any value may be returned. */
      readonly output?: (Out[Name] & Advice<Out[Name]>) | undefined
      /** See above. */
      readonly visible?: unknown
      /** See above. */
      readonly run?: unknown
    }
  },
): NoInfer<{ readonly [Name in keyof In]: ToolEntry<In[Name], Out[Name], Ctx> }> {
  return tools as never
}
