import { lazy } from '../base/lazy.ts'
import type { Sealer, SealerOptions } from './state.ts'

/** A sealer whose code is loaded, and whose random secret is made, with the first state that must travel. */
export function createLateSealer(options: SealerOptions): Sealer {
  const sealer = lazy(async () => (await import('./state.ts')).createSealer(options))
  return {
    seal: async (state, binding) => (await sealer()).seal(state, binding),
    open: async (text, binding) => (await sealer()).open(text, binding),
    bind: async (owner, method, params) => (await sealer()).bind(owner, method, params),
  }
}
