import { lazy } from '../base/lazy.ts'
import type { Handler, Result } from '../rpc/dispatch.ts'
import type { Context } from './context.ts'

/** A handler whose code is loaded with the first request that needs it. */
export function later<Module>(
  load: () => Promise<Module>,
  handle: (module: Module, context: Context) => Result | Promise<Result>,
): Handler<Context> {
  const get = lazy(load)
  return (context) => {
    const module = get()
    return module instanceof Promise
      ? module.then((loaded) => handle(loaded, context))
      : handle(module, context)
  }
}
