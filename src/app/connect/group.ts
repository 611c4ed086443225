import type { Client } from '../../client/client.ts'
import type { CallOptions } from '../../client/options.ts'
import {
  isCommand,
  type CommandTarget,
  type Config,
  type Target,
  type UrlTarget,
} from '../../client/target.ts'
import { connect, type ConnectOptions } from './connect.ts'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import { nearest } from '../../base/nearest.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import type { Tool } from '../../protocol/spec/2026-07-28.ts'

/** Separates the name of a server from the name of its tool. */
const SEPARATOR = '.'

/** Clients of several servers, used as one. Tools are called as `server.tool`. */
export class Group implements AsyncDisposable {
  readonly clients: ReadonlyMap<string, Client>
  /** The errors of the servers that could not be connected to. */
  readonly failures: ReadonlyMap<string, Error>

  constructor(clients: ReadonlyMap<string, Client>, failures: ReadonlyMap<string, Error>) {
    this.clients = clients
    this.failures = failures
  }

  /** Lists the tools of all servers. A server that fails is skipped. */
  async *tools(
    options: CallOptions = {},
  ): AsyncGenerator<Tool & { readonly server: string }, void, undefined> {
    for (const [server, client] of this.clients) {
      try {
        for await (const tool of client.tools(options))
          yield { ...tool, name: `${server}${SEPARATOR}${tool.name}`, server }
      } catch {
        continue
      }
    }
  }

  /** Calls `server.tool`. */
  async call(name: string, input: JsonObject = {}, options: CallOptions = {}): Promise<unknown> {
    const at = name.indexOf(SEPARATOR)
    const server = name.slice(0, at)
    const client = this.clients.get(server)
    if (at > 0 && client !== undefined) return client.call(name.slice(at + 1), input, options)
    if (at <= 0) {
      const reason = `name the server as well: "server${SEPARATOR}${name.slice(0, 64)}"`
      throw mcpError(BAD_OPTION, { where: `call "${name.slice(0, 128)}"`, reason })
    }
    const failure = this.failures.get(server)
    if (failure !== undefined) throw failure
    const meant = nearest(server, this.clients.keys())
    const remedy =
      meant === undefined
        ? `the servers are ${[...this.clients.keys()].join(', ')}`
        : `did you mean "${meant}"?`
    throw mcpError(BAD_OPTION, {
      where: `call "${name.slice(0, 128)}"`,
      reason: `there is no server "${server.slice(0, 64)}"; ${remedy}`,
    })
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.clients.values()].map((client) => client.close()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Connects to several servers at the same time. The failure of one does not affect the others. */
export async function connectAll(
  config: Config | Readonly<Record<string, Target>>,
  options: ConnectOptions = {},
): Promise<Group> {
  const clients = new Map<string, Client>()
  const failures = new Map<string, Error>()
  const entries = Object.entries(serversOf(config))
  const attempts = entries.map(async ([name, target]) => {
    try {
      clients.set(name, await connect(target, options))
    } catch (error) {
      failures.set(name, error as Error)
    }
  })
  await Promise.all(attempts)
  const ordered = entries.flatMap(([name]): [string, Client][] => {
    const client = clients.get(name)
    return client === undefined ? [] : [[name, client]]
  })
  return new Group(new Map(ordered), failures)
}

function serversOf(config: Config | Readonly<Record<string, Target>>): Readonly<Record<string, Target>> {
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw mcpError(BAD_OPTION, {
      where: 'connectAll',
      reason: 'pass servers by name: { name: target }, or the { mcpServers } of an mcp.json file',
    })
  const { mcpServers, servers } = config as Config
  const inner = mcpServers ?? servers
  return inner !== undefined && !isTarget(inner) ? inner : (config as Readonly<Record<string, Target>>)
}

function isTarget(value: object): boolean {
  return isCommand(value as CommandTarget | UrlTarget) || 'url' in value
}
