import { warnOf, type Client } from '../../client/client.ts'
import { toList, type ItemList } from '../../client/item-list.ts'
import { ModelNames, SEPARATOR } from '../../client/model-names.ts'
import type { Answers } from '../../client/answers.ts'
import type { CallOptions } from '../../client/options.ts'
import type { StartOptions, TaskHandle } from '../../client/task-handle.ts'
import type { Config, Target } from '../../client/target.ts'
import type { Change, Watched } from '../../client/watched.ts'
import { CONNECT_OPTIONS, createClient, type ConnectOptions } from './connect.ts'
import { connectInTime } from './in-time.ts'
import { checkEntry, checkShared, failureOf, serversOf } from './entries.ts'
import { GroupNames, type NamedList } from './group-names.ts'
import { Joined } from './joined.ts'
import { findOwners, onlyOwner } from './owners.ts'
import { toMs } from '../../base/duration.ts'
import { nearest } from '../../base/nearest.ts'
import { copyOf } from '../../base/copy-of.ts'
import { nextTask, TURN } from '../../base/next-task.ts'
import { callable, either, object } from '../../base/kinds.ts'
import { badOption, checkOptions } from '../../base/options.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import type {
  CallToolResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from '../../protocol/spec/2026-07-28.ts'

/** The options of `connectAll`: those of every connection that they apply to, and how to name what the servers offer. */
export interface GroupOptions extends Omit<ConnectOptions, 'answers'> {
  /**
   * Answers the questions of all servers. Default: none, so they do not ask. A function gets the name of each server and returns the
   * answers for it, which then know who asks.
   *
   * @example
   * await connectAll(config, { answers: (server) => ({ elicit: ({ message }) => ask(`${server}: ${message}`) }) })
   */
  readonly answers?: Answers | ((server: string) => Answers) | undefined
  /** Separates the name of a server from the name of its tool or prompt: 1 to 8 of the characters `_` and `-`. Default: `__`. */
  readonly separator?: string | undefined
}

/** An item of a group, and the name of the server that has it. */
export type Grouped<Item> = Item & {
  /** The name of the server, as in the configuration. */
  readonly server: string
}

/** Selects a server of a group; needed only if several have the resource. */
export interface OfServer {
  /** The name of the server, as in the configuration. Default: the only one that has the resource, and for `watch` all. */
  readonly server?: string | undefined
}

/**
 * Clients of several servers, used as one, from `connectAll`. Tools and prompts have names that model APIs accept, such as
 * `server__tool`; resources keep their URIs.
 */
export class Group implements AsyncDisposable {
  /** The client of each server that could be connected to, by the name in the configuration and in its order. */
  readonly clients: ReadonlyMap<string, Client>
  /**
   * The errors of the servers that could not be connected to, by name. They do not join the group later: call `connectAll` again,
   * or `connect` for one of them. A server that fails after the start is not in here, since its client reconnects.
   */
  readonly failures: ReadonlyMap<string, Error>
  readonly #names: ModelNames
  readonly #items: GroupNames
  readonly #joined = new Joined()

  /** Puts clients of your own together; `connectAll` does that for you. `separator` is by default `__`. */
  constructor(
    clients: ReadonlyMap<string, Client>,
    failures: ReadonlyMap<string, Error>,
    separator: string = '__',
  ) {
    this.clients = clients
    this.failures = failures
    this.#names = new ModelNames([...clients.keys(), ...failures.keys()], separator)
    this.#items = new GroupNames(this.#names, this.#joined)
  }

  /** Lists the tools of all servers, in their order. A server that fails or takes longer than `total` is skipped, and its client emits a `warning`. */
  tools(options: CallOptions = {}): ItemList<Grouped<Tool>> {
    return this.#each(options, (server) => this.#named('tools', server, options)) as ItemList<Grouped<Tool>>
  }

  /** Lists the prompts of all servers, in their order. A server that fails or takes longer than `total` is skipped. */
  prompts(options: CallOptions = {}): ItemList<Grouped<Prompt>> {
    return this.#each(options, (server) => this.#named('prompts', server, options)) as ItemList<
      Grouped<Prompt>
    >
  }

  /** Lists the resources of all servers, in their order. A server that fails or takes longer than `total` is skipped. */
  resources(options: CallOptions = {}): ItemList<Grouped<Resource>> {
    return this.#each(options, async (server) =>
      (await this.#client(server).resources(options).toArray()).entries(),
    )
  }

  /** Lists the templates of all servers, in their order. A server that fails or takes longer than `total` is skipped. */
  templates(options: CallOptions = {}): ItemList<Grouped<ResourceTemplate>> {
    return this.#each(options, async (server) =>
      (await this.#client(server).templates(options).toArray()).entries(),
    )
  }

  /**
   * Calls a tool by its name in the group. The input is by default `{}`. Returns and throws what `client.call` does.
   *
   * @example
   * await group.call('github__list_issues', { repo: 'pierhead' })
   */
  async call(name: string, input: JsonObject = {}, options: CallOptions = {}): Promise<unknown> {
    const left = timeLeft(options)
    const { client, item } = await this.#find('tools', 'call', name, left)
    return client.call(item, input, left())
  }

  /** Calls a tool and returns its complete result, even if the tool failed. */
  async callRaw(name: string, input: JsonObject = {}, options: CallOptions = {}): Promise<CallToolResult> {
    const left = timeLeft(options)
    const { client, item } = await this.#find('tools', 'callRaw', name, left)
    return client.callRaw(item, input, left())
  }

  /**
   * Calls a tool by its name in the group without waiting for its result. Returns what `client.start` does; the `id` also names the
   * server, for `resume`.
   *
   * @example
   * const task = await group.start('films__render', { film })
   * const same = await group.resume(task.id)
   */
  async start(name: string, input: JsonObject = {}, options: StartOptions = {}): Promise<TaskHandle> {
    const left = timeLeft(options)
    const { client, item, server } = await this.#find('tools', 'start', name, left)
    const task = await client.start(item, input, left())
    return task.id === undefined ? task : withId(task, this.#names.startOf(server) + task.id)
  }

  /** Continues with a task of a group with the same names of servers, as `client.resume` does. */
  async resume<Output = unknown>(id: string, options?: CallOptions): Promise<TaskHandle<Output>> {
    const found = this.#names.split(id)
    if (found === undefined) throw this.#noServer('resume', id)
    return withId(await this.#client(found.server, 'resume').resume<Output>(found.rest, options), id)
  }

  /** Gets a prompt by its name in the group. The arguments are by default none. */
  async prompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: CallOptions = {},
  ): Promise<GetPromptResult> {
    const left = timeLeft(options)
    const { client, item } = await this.#find('prompts', 'prompt', name, left)
    return client.prompt(item, args, left())
  }

  /**
   * Reads a resource from the given server; or else from the only one that lists it or, if none does, that has a template
   * which begins like it.
   */
  async read(uri: string, options: CallOptions & OfServer = {}): Promise<ReadResourceResult> {
    const { server, ...rest } = options
    const left = timeLeft(rest)
    const owner = server ?? (await this.#ownersOf('read', [uri], left)).get(uri)
    return this.#client(owner as string, 'read').read(uri, left())
  }

  /**
   * Yields changes of the lists and resources of all servers, or of the given one, for as long as the loop runs. A server
   * that fails is left out, and its client emits a `warning`. It subscribes at the first `next()`, that is when the loop begins; `onReady` is called when all other servers have confirmed it. Each change has the name of its
   * `server`.
   */
  async *watch(watched: Watched & OfServer): AsyncGenerator<Grouped<Change>, void, undefined> {
    const { watchAll } = await import('./watch-all.ts')
    const { server, ...all } = watched
    const clients = server === undefined ? this.clients : new Map([[server, this.#client(server, 'watch')]])
    const { signal } = all
    yield* watchAll(clients, all, async (uris) =>
      server === undefined
        ? this.#ownersOf('watch', uris, () => ({ signal }))
        : new Map(uris.map((uri) => [uri, server])),
    )
  }

  /** Closes all clients. It does not throw if one of them cannot be closed properly. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.clients.values()].map((client) => client.close()))
  }

  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Asks all servers at the same time and yields their items in the order of the servers. */
  #each<Item>(
    { signal }: CallOptions,
    list: (server: string) => Promise<Listed<Item>>,
  ): ItemList<Grouped<Item>> {
    return toList(
      eachOf(this.clients, list, signal, (client, server, { message }) =>
        warnOf(client, `a list of the group lacks what "${server}" has: ${message}`),
      ),
    )
  }

  /** The client and the item for a name. A name that was changed may have to be looked up in the server's list. */
  async #find(
    kind: NamedList['kind'],
    where: string,
    name: string,
    left: () => CallOptions,
  ): Promise<{ readonly client: Client; readonly item: string; readonly server: string }> {
    const found = this.#names.read(name)
    if (found === undefined) throw this.#noServer(where, name)
    const { server } = found
    const client = this.#client(server, where)
    const item = found.item ?? (await this.#items.itemOf({ kind, server, client }, name, left))
    return { client, item, server }
  }

  #named(kind: NamedList['kind'], server: string, options: CallOptions): Promise<Listed<Tool | Prompt>> {
    return this.#items.list({ kind, server, client: this.#client(server) }, options)
  }

  #client(server: string, where = 'group'): Client {
    const client = this.clients.get(server)
    if (client !== undefined) return client
    throw this.failures.get(server) ?? badName(where, server, this.clients.keys())
  }

  #noServer(where: string, name: string): Error {
    const { separator, prefixes } = this.#names
    const at = name.indexOf(separator)
    const own = [...prefixes.values()]
    if (at >= 0) return badName(`${where} "${name.slice(0, 128)}"`, name.slice(0, at), own)
    const reason = `name the server as well: "${own[0] ?? 'server'}${separator}${name.slice(0, 64)}"`
    return badOption(`${where} "${name.slice(0, 128)}"`, reason)
  }

  /** The only server that has each resource. If a server fails to list, the URIs are not sent to any other. */
  async #ownersOf(
    where: string,
    uris: readonly string[],
    left: () => CallOptions,
  ): Promise<ReadonlyMap<string, string>> {
    const limits = (): CallOptions => {
      const { timeout, total, signal } = left()
      return { timeout, total, signal }
    }
    const found = await findOwners(this.clients, uris, limits, this.#joined)
    const [cause] = found.failures.values()
    if (found.failures.size > 0 && left().signal?.aborted === true) throw cause
    return new Map(uris.map((uri) => [uri, onlyOwner(where, uri, found)]))
  }
}

/** The options of each step of a request, which share its total timeout. */
function timeLeft<Options extends CallOptions>(options: Options): () => Options {
  const { total } = options
  if (total === undefined) return () => options
  const end = performance.now() + toMs(total, 'total')
  return () => ({ ...options, total: Math.max(0, end - performance.now()) })
}

/** The same task under another id. */
function withId<Output>(task: TaskHandle<Output>, id: string): TaskHandle<Output> {
  return {
    id,
    status: (options) => task.status(options),
    result: (options) => task.result(options),
    cancel: (options) => task.cancel(options),
    progress: () => task.progress(),
  }
}

function badName(where: string, server: string, known: Iterable<string>): Error {
  const names = [...known]
  const meant = nearest(server, names)
  const remedy = meant === undefined ? `the servers are ${names.join(', ')}` : `did you mean "${meant}"?`
  return badOption(where, `there is no server "${server.slice(0, 64)}"; ${remedy}`)
}

/** The items of a server, by their position or by their name in the group. */
type Listed<Item> = Iterable<readonly [key: string | number, item: Item]>

async function* eachOf<Item>(
  clients: ReadonlyMap<string, Client>,
  list: (server: string) => Promise<Listed<Item>>,
  signal: AbortSignal | undefined,
  onFailure: (client: Client, server: string, error: Error) => void,
): AsyncGenerator<Grouped<Item>, void, undefined> {
  const lists = [...clients].map(
    async ([server, client]) => [server, client, await list(server).catch((error: Error) => error)] as const,
  )
  for (const waiting of lists) {
    const [server, client, items] = await waiting
    let at = 0
    if (!(items instanceof Error))
      for (const [key, item] of items) {
        if (++at % TURN === 0) await nextTask()
        // Middleware may have the item, so it does not change.
        const copy = copyOf(item as JsonObject)
        if (typeof key === 'string') copy['name'] = key
        yield Object.assign(copy, { server }) as Grouped<Item>
      }
    else if (signal?.aborted === true) throw items
    else onFailure(client, server, items)
  }
}

/**
 * Connects to several servers at the same time: those of an `mcp.json` file, or targets by name. The failure of one does not affect
 * the others, and none may take longer than `timeout`, apart from logins; `group.failures` has its error. The options apply to every server that they have an effect for, so do not pass secrets in
 * `headers` or `auth`: give each server its own in the configuration. `keys` are rejected if several servers are programs.
 *
 * @example
 * await using group = await connectAll(JSON.parse(await readFile('mcp.json', 'utf8')))
 * for await (const tool of group.tools()) console.log(tool.name, tool.server)
 * for (const [server, error] of group.failures) console.error(server, error.message)
 */
export async function connectAll(
  config: Config | Readonly<Record<string, Target>>,
  options: GroupOptions = {},
): Promise<Group> {
  checkOptions<GroupOptions>('connectAll', options, {
    ...CONNECT_OPTIONS,
    answers: either(object<Answers>(), callable<(server: string) => Answers>()),
    separator: SEPARATOR,
  })
  const { separator = '__', answers, ...rest } = options
  const clients = new Map<string, Client>()
  const failures = new Map<string, Error>()
  const servers = serversOf(config)
  const entries = Object.entries(servers)
  checkShared(Object.values(servers), rest)
  const shared: ConnectOptions = typeof answers === 'function' ? rest : { ...rest, answers }
  const own = entries.map(([name]) =>
    typeof answers === 'function' ? { ...rest, answers: answers(name) } : shared,
  )
  // A mistake inside an option is found here too, before it counts as the failure of a server.
  for (const one of new Set([shared, ...own])) createClient('http://localhost', one)
  const { applicable } = await import('./applicable.ts')
  const attempts = entries.map(async ([name, target], at) => {
    try {
      checkEntry(target)
      clients.set(name, await connectInTime(target, applicable(target, own[at]!)))
    } catch (error) {
      failures.set(name, failureOf(name, error))
    }
  })
  await Promise.all(attempts)
  const ordered = entries.flatMap(([name]): [string, Client][] => {
    const client = clients.get(name)
    return client === undefined ? [] : [[name, client]]
  })
  return new Group(new Map(ordered), failures, separator)
}
