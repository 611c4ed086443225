import type { CallOptions } from 'pierhead/client'
import { onAbort } from '../base/on-abort.ts'
import type { Invocation } from './command.ts'
import { safeLine } from './safe-text.ts'
import { shellWord } from './shell-word.ts'
import type { ResolvedTarget } from './target.ts'
import { targetWord } from './target-word.ts'

/** Runs a call until Ctrl-C. That cancels it on the server, unless it has become a task: then it goes on, and the user hears how to find it. */
export async function untilInterrupted<Result>(
  { io, output }: Invocation,
  resolved: ResolvedTarget,
  run: (options: Pick<CallOptions, 'signal' | 'onTask'>) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  let task: string | undefined
  const remove = onAbort(io.signal, () => {
    // Closing the connection, which Ctrl-C also does, leaves a task alone.
    if (task === undefined) return controller.abort()
    const id = safeLine(task, 200)
    output.status('')
    output.note(whereIs(id, resolved))
  })
  try {
    return await run({ signal: controller.signal, onTask: (id) => (task = id) })
  } finally {
    remove()
  }
}

/** What becomes of a task that nobody follows any more. Whether a program keeps its tasks is not known here. */
function whereIs(id: string, resolved: ResolvedTarget): string {
  const show = `pierhead tasks show ${wordsOf(targetWord(resolved), id)}`
  if ('url' in resolved.target) return `Task ${id} is still running: ${show}`
  const again = resolved.from === 'program' ? '.' : `: ${show}`
  return `The program that this command had started ends, and task ${id} with it. If its server keeps tasks in a store, the task goes on when it runs again${again}`
}

/** The words for a task at a target. A server may choose an id that looks like an option. */
function wordsOf(target: string, id: string): string {
  return id.startsWith('-') ? `--server ${target} -- ${shellWord(id)}` : `${target} ${shellWord(id)}`
}
