/** The functions that run the commands of the parent process, by command name. */
export type Handlers<Commands> = { readonly [Name in keyof Commands]: (command: Commands[Name]) => unknown }

/** A numbered message from the parent process. */
export interface Command {
  readonly number: number
  readonly name: string
  readonly value: unknown
}

/** The reply to a command, with the CPU time that this process used for it. */
export interface Reply {
  readonly number: number
  readonly value?: unknown
  readonly error?: string
  readonly cpuMs: number
}

/** Runs the commands that the parent process sends over the IPC channel, and replies with their results. */
export function runCommands<Commands>(handlers: Handlers<Commands>): void {
  process.on('message', (command: Command) => void runCommand(command))

  async function runCommand({ number, name, value }: Command): Promise<void> {
    const before = process.cpuUsage()
    const cpuMs = (): number => {
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000
    }
    try {
      const handle = handlers[name as keyof Commands] as (value: unknown) => unknown
      reply({ number, value: await handle(value), cpuMs: cpuMs() })
    } catch (error) {
      reply({ number, error: error instanceof Error ? error.message : String(error), cpuMs: cpuMs() })
    }
  }
}

function reply(message: Reply): void {
  process.send?.(message)
}
