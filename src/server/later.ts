import type { Handler, Result } from '../rpc/dispatch.ts'
import type { Context } from './context.ts'

/** A handler whose code is loaded with the first request that needs it. */
export function later<Module>(
  load: () => Promise<Module>,
  handle: (module: Module, context: Context) => Result | Promise<Result>,
): Handler<Context> {
  let module: Module | undefined
  return (context) => (module === undefined ? begin(context) : handle(module, context))

  async function begin(context: Context): Promise<Result> {
    module ??= await load()
    return handle(module, context)
  }
}
