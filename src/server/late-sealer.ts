import { lazy } from '../base/lazy.ts'
import type { Sealer, SealerOptions } from './state.ts'

/** A sealer that loads its code and gets its secrets with the first state that must be sent. */
export function createLateSealer(options: () => SealerOptions | Promise<SealerOptions>): Sealer {
  const sealer = lazy(async () => (await import('./state.ts')).createSealer(await options()))
  return {
    seal: async (state, binding) => (await sealer()).seal(state, binding),
    open: async (text, binding) => (await sealer()).open(text, binding),
    bind: async (owner, method, params) => (await sealer()).bind(owner, method, params),
  }
}
