// Bundles often begin with an import of `createRequire`, which must not be declared twice.
import { createRequire as requireFrom } from 'node:module'

/**
 * Loads code that contains the WebSocket library, which is CommonJS: in a bundle that is an ES module, its calls of `require`
 * fail unless there is a global one while it starts.
 */
export async function loadWs<Module>(load: () => Promise<Module>): Promise<Module> {
  const scope = globalThis as { require?: unknown }
  if (scope.require !== undefined) return load()
  scope.require = requireFrom(import.meta.url)
  try {
    return await load()
  } finally {
    delete scope.require
  }
}
