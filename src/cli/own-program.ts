/** The command line that starts this program again: Node with the flags that it has, and the entry of the command. */
export function ownProgram(): readonly [command: string, ...args: string[]] {
  const entry = process.argv[1] ?? ''
  return [process.execPath, ...process.execArgv, entry.replace(/(?<=[\\/])create(?=\.[jt]s$)/, 'main')]
}
