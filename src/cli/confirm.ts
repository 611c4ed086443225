import type { Readable, Writable } from 'node:stream'
import type { Invocation } from './command.ts'
import { wrongUsage } from './failure.ts'

/**
 * Whether the user agrees: with `--yes`, or at the terminal. Throws where nobody can be asked. `details` say what about, and are
 * shown to whoever is asked, also with `--quiet`.
 */
export async function confirmed(
  { flags, io, output }: Invocation,
  message: string,
  details?: string,
): Promise<boolean> {
  const isAsked = !flags.is('yes') && io.stdin.isTTY === true && io.stderr.isTTY === true
  if (details !== undefined && isAsked) output.show(details)
  else if (details !== undefined) output.note(details)
  if (flags.is('yes')) return true
  if (!isAsked)
    throw wrongUsage(
      'nobody can be asked, because this is not a terminal',
      'Add --yes if this is what you want.',
    )
  output.status('')
  const { confirm, isCancel } = await import('@clack/prompts')
  const agreed = await confirm({
    message,
    input: io.stdin as Readable,
    output: io.stderr as unknown as Writable,
    signal: io.signal,
  })
  return !isCancel(agreed) && agreed
}
