import { startProcess } from '../../transport/stdio/process.ts'
import { toLaunch, type Command } from '../../transport/stdio/launch.ts'
import type { Address } from './serve.ts'

/** A client that was started. */
export interface RunningClient {
  /** Settles when the client has ended, with how it did. */
  readonly ended: Promise<string>
  /** Ends the client. Resolves when it is gone. */
  stop(): Promise<void>
}

/** A client that can be started as often as there are scenarios. */
export interface StartableClient {
  start(address: Address, variables: Readonly<{ [name: string]: string }>): Promise<RunningClient>
}

/** How long a client may take to end after its input was closed, before it gets SIGTERM. */
const GRACE_MS = 100
const MOST_STDERR = 2_000

/** A program as a client. It learns in its arguments where the server is. */
export function programClient(command: Command): StartableClient {
  return {
    async start(address, variables) {
      const process = await startProcess(
        toLaunch({
          ...command,
          args: argumentsOf(command.args ?? [], address),
          env: { ...command.env, ...variables, ...addressVariables(address) },
        }),
        'pipe',
      )
      let stderr = ''
      process.stdout.resume()
      process.stdin.on('error', () => undefined)
      process.stderr?.on('data', (chunk: Uint8Array) => {
        stderr = (stderr + Buffer.from(chunk).toString('utf8')).slice(-MOST_STDERR)
      })
      return {
        ended: process.finished.then(({ how }) => (stderr === '' ? how : `${how}: ${stderr.trim()}`)),
        stop: () => process.stop(GRACE_MS),
      }
    },
  }
}

/** The arguments of the client: `{url}` and `{command}` are replaced; without them, the address comes last. */
export function argumentsOf(args: readonly string[], { url, command }: Address): readonly string[] {
  if (url !== undefined) {
    const isNamed = args.some((word) => word.includes('{url}'))
    return isNamed ? args.map((word) => word.replaceAll('{url}', url)) : [...args, url]
  }
  const words = command ?? []
  const isNamed = args.includes('{command}')
  return isNamed ? args.flatMap((word) => (word === '{command}' ? words : [word])) : [...args, ...words]
}

function addressVariables({ url, command }: Address): Readonly<{ [name: string]: string }> {
  return {
    ...(url !== undefined && { PIERHEAD_VALIDATE_URL: url }),
    ...(command !== undefined && { PIERHEAD_VALIDATE_COMMAND: JSON.stringify(command) }),
  }
}
