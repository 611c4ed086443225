import type { Io } from './io.ts'

/**
 * Asks a question at the terminal. Ctrl-C, which reaches the program as a key there, ends the whole command and answers nothing: the question
 * would take it for Esc.
 */
export async function unlessInterrupted<Answer>(io: Io, ask: () => Promise<Answer>): Promise<Answer> {
  let isInterrupted = false
  const onKey = (_: unknown, key: { readonly name?: string; readonly ctrl?: boolean } | undefined): void => {
    if (key?.ctrl === true && key.name === 'c') isInterrupted = true
  }
  io.stdin.prependListener('keypress', onKey)
  try {
    const answer = await ask()
    if (!isInterrupted) return answer
    // As if the terminal had not passed it on.
    process.kill(process.pid, 'SIGINT')
    if (!io.signal.aborted)
      await new Promise<void>((resolve) =>
        io.signal.addEventListener('abort', () => resolve(), { once: true }),
      )
    throw io.signal.reason
  } finally {
    io.stdin.removeListener('keypress', onKey)
  }
}
