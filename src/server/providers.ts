import { methodRow } from '../protocol/methods.ts'
import type { Context } from './context.ts'
import type { ServerParts } from './parts.ts'

/** Adds to the context of every request. */
export type Provider = (context: Context) => object | Promise<object>

/** Whether a method concerns tools, resources or prompts, not only the connection. */
export function isForItems(method: string): boolean {
  const row = methodRow(method)
  return row?.capability !== undefined || row?.lasting === true
}

/** A context with what the providers add. */
export async function provided(
  context: Context,
  providers: readonly Provider[],
  { warnOnce }: ServerParts,
): Promise<Context> {
  for (const provide of providers) {
    const more: unknown = await provide(context)
    if (typeof more !== 'object' || more === null) {
      const what = typeof more === 'string' ? 'a string' : String(more)
      const problem = `provide returned ${what.slice(0, 64)}, so it added nothing to the context`
      warnOnce('provide', '', `${problem}; return an object with the members: provide(() => ({ db }))`)
      continue
    }
    for (const name of Object.keys(more)) {
      if (name in context)
        throw new TypeError(`provide: "${name}" is a member of every context; choose another name`)
    }
    Object.assign(context, more)
  }
  return context
}
