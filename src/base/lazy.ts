/**
 * Loads something large when it is first asked for, and from then on gives it at once. Whoever asks while it is being loaded
 * is served in turn; a failure is not remembered.
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
