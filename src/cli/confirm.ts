import type { Readable, Writable } from 'node:stream'
import type { Invocation } from './command.ts'
import { wrongUsage } from './failure.ts'

/** Whether the user agrees: with `--yes`, or at the terminal. Throws where nobody can be asked. */
export async function confirmed({ flags, io, output }: Invocation, message: string): Promise<boolean> {
  if (flags.is('yes')) return true
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true)
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
