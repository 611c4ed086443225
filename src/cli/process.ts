import { runCli } from './cli.ts'
import { COMMANDS } from './commands.ts'
import { processIo } from './io.ts'

/** Runs a command line in this process, and ends the process with its exit code. */
export async function runProcess(args: readonly string[]): Promise<void> {
  const code = await runCli(args, processIo(), COMMANDS)
  process.exit(code)
}
