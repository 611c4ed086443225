import { isCommand, isTarget, type Config, type Target } from '../../client/target.ts'
import { mcpError, McpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import { badOption, checkOptions } from '../../base/options.ts'
import { isObject } from '../../protocol/jsonrpc.ts'
import { CONNECT_OPTIONS, type ConnectOptions } from './connect.ts'

/** The servers of a configuration by name. It may come from a file, so anything may be in it. */
export function serversOf(
  config: Config | Readonly<Record<string, Target>>,
): Readonly<Record<string, Target>> {
  if (!isObject(config)) throw noServers()
  const { mcpServers, servers } = config as Config
  const inner: unknown = mcpServers === undefined ? servers : mcpServers
  if (inner === undefined || isTarget(inner as Target | null)) return config as Record<string, Target>
  if (!isObject(inner)) throw noServers()
  return inner as Record<string, Target>
}

function noServers(): McpError {
  const reason = 'pass servers by name: { name: target }, or the { mcpServers } of an mcp.json file'
  return badOption('connectAll', reason)
}

/** Rejects one key for several programs: a hostile one could start another, and pass the exchange with the client on to it. */
export function checkShared(servers: readonly Target[], { keys }: Pick<ConnectOptions, 'keys'>): void {
  if (keys === undefined || servers.filter((one) => isObject(one) && isCommand(one)).length < 2) return
  const reason = 'every program of the group could pass your proof on to another; give each its own'
  throw badOption('connectAll keys', `${reason}: { command, keys }`)
}

/** Rejects mistakes in one server of a configuration that `connect` does not find. */
export function checkEntry(target: unknown): void {
  if (!isObject(target)) return
  const { url, headers, auth, keys } = target
  if (url !== undefined && typeof url !== 'string' && !(url instanceof URL))
    throw badOption('url', 'url must be a string, such as https://example.com/mcp')
  if (headers !== undefined) checkOptions<ConnectOptions>('headers', { headers }, CONNECT_OPTIONS)
  if (auth !== undefined) checkOptions<ConnectOptions>('auth', { auth }, CONNECT_OPTIONS)
  if (keys !== undefined) checkOptions<ConnectOptions>('keys', { keys }, CONNECT_OPTIONS)
}

/** The failure of one server: an error in its configuration names the server, others are unchanged. */
export function failureOf(name: string, thrown: unknown): Error {
  if (thrown instanceof McpError && thrown.kind !== 'bad_option') return thrown
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  return mcpError(BAD_OPTION, { where: `connectAll "${name.slice(0, 64)}"`, reason }, { cause: thrown })
}
