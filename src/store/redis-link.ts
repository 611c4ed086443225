import { pause } from '../base/backoff.ts'
import { lazy } from '../base/lazy.ts'
import { mcpError, McpError } from '../errors/error.ts'
import { SOON } from '../errors/retry-after.ts'
import { STORE_FAILED, STORE_UNREACHABLE } from '../errors/store.ts'
import { Lifetime } from './lifetime.ts'
import { isReply, makeClient, makeQueueClient, sendTogether } from './redis-client.ts'
import type { Argument, Client, ClientSettings } from './redis-client.ts'
import { RedisConnection } from './redis-connection.ts'
import { durabilityWarnings } from './redis-durability.ts'
import { SCRIPTS, type ScriptName } from './redis-scripts.ts'

/** The version of the keys. Programs with the same version may run side by side. */
const KEYS_VERSION = 1

export interface LinkSettings extends ClientSettings {
  /** Where the server is, without credentials. */
  readonly place: string
  readonly prefix: string
  readonly warn: (text: string) => void
}

/** How a step is done. */
export interface StepOptions {
  /** Whether it must not be repeated if its answer is lost, because doing it twice differs from doing it once. */
  readonly isOnce?: boolean
}

type Scripts = Readonly<Record<ScriptName, (...values: readonly Argument[]) => Promise<unknown>>>

/** How many different warnings are given. */
const MOST_WARNINGS = 20

/** The pause before a step is repeated. */
const REPEAT_MS = 10

/** Replies after which the same step may work later: the server is busy, or others must set it right. */
const PASSING = /^(?:BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|NOAUTH|OOM|READONLY|TRYAGAIN|WRONGPASS) /

/** The connections of a driver to Redis. */
export class RedisLink {
  readonly prefix: string
  readonly lifetime: Lifetime = new Lifetime()
  readonly #settings: LinkSettings
  readonly #connections = new Set<RedisConnection>()
  readonly #start = lazy(() => this.#connect())
  /** The connection for steps: before and after it was checked. */
  #first: RedisConnection | undefined
  #main: RedisConnection | undefined
  #hasWarned = false
  readonly #warned = new Set<string>()

  constructor(settings: LinkSettings) {
    this.#settings = settings
    this.prefix = settings.prefix
  }

  /** How long a step may take. */
  get timeoutMs(): number {
    return this.#settings.timeoutMs
  }

  /** A key. All keys with the same tag are on the same node of a cluster. */
  key(tag: string, rest: string): string {
    return `${this.prefix}:{${tag}}${rest}`
  }

  /** Runs a script. Each is one atomic step, which is repeated if the connection is lost meanwhile. */
  run(
    name: ScriptName,
    keys: readonly string[],
    values: readonly Argument[],
    options?: StepOptions,
  ): Promise<unknown> {
    return this.step((client) => this.script(client, name, [...keys, ...values]), options)
  }

  /** Runs a script inside a step: its keys, and then its values. */
  script(client: Client, name: ScriptName, values: readonly Argument[]): Promise<unknown> {
    return (client as unknown as Scripts)[name](...values)
  }

  /** Sends a command, in the same way. */
  call(command: readonly Argument[], options?: StepOptions): Promise<unknown> {
    const [name, ...values] = command
    return this.step((client) => client.call(String(name), ...values), options)
  }

  /** Does a step. `isRepeated` says that it may have been done already. */
  step(
    act: (client: Client, isRepeated: boolean) => Promise<unknown>,
    options: StepOptions = {},
  ): Promise<unknown> {
    const client = this.#main?.current
    if (client === undefined || this.lifetime.isOver) return this.#insist(act, options)
    sendTogether(client)
    return act(client, false).catch((error: unknown) => this.#insist(act, options, error))
  }

  /** A further connection, for commands that wait. */
  async connection(onReady?: (client: Client) => void): Promise<RedisConnection> {
    const connection = new RedisConnection(await makeClient(this.#settings, true), Infinity, onReady)
    return this.#opened(connection)
  }

  /** A client for BullMQ. Whoever gets it ends it. */
  async queueClient(): Promise<Client> {
    const client = await makeQueueClient(this.#settings)
    // Those who use it hear of errors, too; without a listener of its own, ioredis would print them.
    client.on('error', () => {})
    return client
  }

  /** Fails if another program has written keys of a newer version. */
  async checkVersion(kind: string, key: string, known: number): Promise<void> {
    this.#judgeVersion(kind, Number(await this.run('pierheadFirst', [key], [known])), known)
  }

  /** Closes a further connection. */
  release(connection: RedisConnection): void {
    this.#connections.delete(connection)
    connection.close()
  }

  /** Warns once of an error that nobody gets, if the operator must do something about it. */
  warnOf(error: unknown): void {
    if (!isReply(error) || isPassing(error as Error)) return
    const { message } = error as Error
    if (this.#warned.has(message) || this.#warned.size >= MOST_WARNINGS) return
    this.#warned.add(message)
    this.#warn(message)
  }

  close(): void {
    this.lifetime.end()
    for (const connection of this.#connections) connection.close()
    this.#connections.clear()
  }

  /** Does a step that cannot be done at once, or that failed. */
  async #insist(
    act: (client: Client, isRepeated: boolean) => Promise<unknown>,
    { isOnce = false }: StepOptions,
    failure?: unknown,
  ): Promise<unknown> {
    const until = performance.now() + this.#settings.timeoutMs
    let isSent = false
    for (let error = failure; ;) {
      this.lifetime.check()
      if (error !== undefined) {
        if (!mayRepeat(error, isOnce) || performance.now() >= until) throw this.#failure(error)
        isSent ||= !isUnsent(error)
        // A connection that is lost may look ready until its end is noticed.
        await pause(REPEAT_MS)
      }
      try {
        const client = await this.#ready()
        return await act(client, isSent)
      } catch (next) {
        // Without a connection, nothing was sent.
        if (next instanceof McpError) throw next
        error = next
      }
    }
  }

  async #ready(): Promise<Client> {
    const main = await this.#start()
    try {
      return await main.ready()
    } catch (error) {
      this.lifetime.check()
      throw this.#failure(error)
    }
  }

  /** Makes the first connection, and looks at the server. */
  async #connect(): Promise<RedisConnection> {
    const main = await this.#open()
    let client: Client
    try {
      client = await main.ready()
      await this.#checkVersion(client)
    } catch (error) {
      this.lifetime.check()
      throw error instanceof McpError ? error : this.#failure(error)
    }
    this.#main = main
    if (!this.#hasWarned) {
      this.#hasWarned = true
      // Nobody waits for it, and a server that does not answer is noticed anyway.
      durabilityWarnings(client).then(
        (texts) => texts.forEach((text) => this.#warn(text)),
        () => {},
      )
    }
    return main
  }

  #warn(text: string): void {
    this.#settings.warn(`${this.#settings.place}: ${text}`)
  }

  async #open(): Promise<RedisConnection> {
    if (this.#first !== undefined) return this.#first
    const { timeoutMs } = this.#settings
    const client = await makeClient(this.#settings, false)
    for (const [name, { keys, lua }] of Object.entries(SCRIPTS))
      client.defineCommand(name, { lua, numberOfKeys: keys })
    return (this.#first = this.#opened(new RedisConnection(client, timeoutMs)))
  }

  #opened(connection: RedisConnection): RedisConnection {
    if (this.lifetime.isOver) connection.close()
    else this.#connections.add(connection)
    return connection
  }

  async #checkVersion(client: Client): Promise<void> {
    const values = [this.key('keys', ''), KEYS_VERSION]
    this.#judgeVersion('', Number(await this.script(client, 'pierheadFirst', values)), KEYS_VERSION)
  }

  #judgeVersion(kind: string, version: number, known: number): void {
    if (version <= known) return
    const keys = kind === '' ? 'its keys' : `its keys of ${kind}`
    const reason = `${keys} have version ${version}, and this program knows only up to ${known}`
    const hint = 'Use the newer version of Pierhead that wrote them, or give redis another prefix.'
    throw mcpError(STORE_FAILED, { path: `${this.#settings.place} (${this.prefix})`, reason }, { hint })
  }

  /** The error for the user. Those of the client have the arguments of commands, which may be secret. */
  #failure(error: unknown): McpError {
    const message = error instanceof Error ? error.message : String(error)
    const cause = new Error(message)
    const { place } = this.#settings
    if (isReply(error) && !isPassing(cause))
      return mcpError(STORE_FAILED, { path: place, reason: message }, { cause, hint: hintFor(message) })
    const hint = `Try again later. Operators: check that Redis runs at ${place} and lets this program in (${message}).`
    return mcpError(STORE_UNREACHABLE, {}, { ...SOON, cause, hint })
  }
}

function isPassing({ message }: Error): boolean {
  return PASSING.test(`${message} `)
}

/** Whether a step may be tried again: it was not sent, or the connection was lost before its answer came. */
function mayRepeat(error: unknown, isOnce: boolean): boolean {
  return isUnsent(error) || (!isOnce && !isReply(error) && (error as Error).message !== 'Command timed out')
}

function isUnsent(error: unknown): boolean {
  return (error as Error).message.startsWith("Stream isn't writeable")
}

function hintFor(message: string): string {
  return message.startsWith('NOPERM')
    ? 'Let the user of the URL run scripts, and read, write and subscribe to everything with the prefix.'
    : 'Use Redis 6.2 or newer, or Valkey, with a prefix that no other program uses.'
}
