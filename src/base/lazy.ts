/**
 * Loads a module on first use; later calls return it synchronously. Concurrent callers share one load; after a failure
 * the next call tries again.
 */
export function lazy<Module>(load: () => Promise<Module>): () => Module | Promise<Module> {
  let module: Module | undefined
  let loading: Promise<Module> | undefined
  return () => module ?? (loading ??= begin())

  async function begin(): Promise<Module> {
    try {
      return (module = await load())
    } finally {
      loading = undefined
    }
  }
}
