interface Runtime {
  require?: unknown
  readonly process?: { getBuiltinModule?(name: string): { createRequire(path: string): unknown } }
}

/**
 * Loads code that contains the WebSocket library, which is CommonJS: in a bundle that is an ES module, its calls of `require`
 * fail unless there is a global one while it starts.
 */
export async function loadWs<Module>(load: () => Promise<Module>): Promise<Module> {
  const runtime = globalThis as Runtime
  const builtIn = runtime.process?.getBuiltinModule?.('node:module')
  if (runtime.require !== undefined || builtIn === undefined) return load()
  runtime.require = builtIn.createRequire(import.meta.url)
  try {
    return await load()
  } finally {
    delete runtime.require
  }
}
