interface Hinted {
  readonly name?: unknown
  readonly hint?: unknown
  stack?: string
}

interface Runtime {
  readonly process?: { on?(event: 'uncaughtExceptionMonitor', listener: (thrown: unknown) => void): unknown }
}

let isShowing = false

/** Node prints an uncaught error with its members after all frames. What to do belongs right under the message. */
export function showHints(): void {
  if (isShowing) return
  isShowing = true
  const { process } = globalThis as Runtime
  process?.on?.('uncaughtExceptionMonitor', (thrown) => {
    const error = thrown as Hinted | null | undefined
    const { name, hint, stack } = error ?? {}
    if (name !== 'McpError' || typeof hint !== 'string' || stack?.includes(hint) !== false) return
    ;(error as Hinted).stack = stack.replace(/\n {4}at /, (frame) => `\n${hint}${frame}`)
  })
}
