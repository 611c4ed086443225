import type { ListenOptions } from 'pierhead'
import type { Flags } from './command.ts'
import { wrongUsage } from './failure.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What a command line says of the address of HTTP. What it does not say is left to the program. */
export interface Address {
  readonly port: number | undefined
  readonly host: string | undefined
}

/** The address in the options and the environment. */
export function addressOf(flags: Flags, env: Environment): Address {
  const text = flags.text('port') ?? env['PORT']
  return { port: text === undefined ? undefined : portOf(text), host: flags.text('host') }
}

function portOf(text: string): number {
  const port = Number(text)
  if (text.trim() !== '' && Number.isInteger(port) && port >= 0 && port < 65_536) return port
  throw wrongUsage(`${text} is not a valid port`, 'Use a number from 0 to 65535; 0 chooses a free one.')
}

/** HTTP with the options of the program, at the address that the command line names. */
export function httpAt(own: ListenOptions, { port, host }: Address): Pick<ListenOptions, 'http'> {
  const http = typeof own.http === 'object' ? own.http : {}
  return { http: { ...http, ...(port !== undefined && { port }), ...(host !== undefined && { host }) } }
}

/** stdio with the options of the program. */
export function stdioOf({ stdio }: ListenOptions): Pick<ListenOptions, 'stdio'> {
  return { stdio: typeof stdio === 'object' ? stdio : true }
}
