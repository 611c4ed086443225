import type { ListenOptions } from 'pierhead'
import { hostsIn, portIn } from './address-problem.ts'
import type { Flags } from './command.ts'
import { wrongUsage } from './failure.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What a command line and its environment say of the address of HTTP. What they do not say is left to the program. */
export interface Address {
  readonly port: number | undefined
  readonly host: string | undefined
  /** The names under which clients reach the server. */
  readonly hosts: readonly string[] | undefined
}

/** The address in the options and the environment. An option wins over its variable. */
export function addressOf(flags: Flags, env: Environment): Address {
  const text = flags.text('port')
  const host = flags.text('host') ?? (env['HOST'] || undefined)
  return {
    port: text === undefined ? portOfVariable(env['PORT']) : portOf(text),
    host,
    hosts: hostsOf(flags, env),
  }
}

/** Whether an option of the address was given. */
export function namesAddress(flags: Flags): boolean {
  return ['port', 'host', 'hosts'].some((name) => flags.text(name) !== undefined)
}

/** An empty variable says nothing, as in a built file. */
function portOfVariable(text: string | undefined): number | undefined {
  return text ? portOf(text, 'PORT: ') : undefined
}

function portOf(text: string, from: string = ''): number {
  const port = portIn(text)
  if (typeof port === 'number') return port
  throw wrongUsage(from + port.problem, port.hint)
}

function hostsOf(flags: Flags, env: Environment): readonly string[] | undefined {
  const text = flags.text('hosts')
  if (text === undefined) return env['HOSTS'] ? hostsIn(env['HOSTS']) : undefined
  const hosts = hostsIn(text)
  if (hosts.length > 0) return hosts
  throw wrongUsage('--hosts names no host', 'Write --hosts mcp.example.com,localhost')
}

/** HTTP with the options of the program, at the address that the command line names. */
export function httpAt(own: ListenOptions, { port, host, hosts }: Address): Pick<ListenOptions, 'http'> {
  const http = typeof own.http === 'object' ? own.http : {}
  return {
    http: {
      ...http,
      ...(port !== undefined && { port }),
      ...(host !== undefined && { host }),
      ...(hosts !== undefined && { hosts }),
    },
  }
}

/** stdio with the options of the program. */
export function stdioOf({ stdio }: ListenOptions): Pick<ListenOptions, 'stdio'> {
  return { stdio: typeof stdio === 'object' ? stdio : true }
}
