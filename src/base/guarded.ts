/** Calls a function of the program. `onError` gets what it throws, or what the promise that it returns is rejected with. */
export function guarded(run: () => unknown, onError: (error: unknown) => void): void {
  try {
    const returned = run()
    if (returned instanceof Promise) returned.catch(onError)
  } catch (error) {
    onError(error)
  }
}
