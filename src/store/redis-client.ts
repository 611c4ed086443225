import { delayOf } from '../base/backoff.ts'
import { mcpError } from '../errors/error.ts'
import { REDIS_UNAVAILABLE } from '../errors/store.ts'

/** A client that you made: a `Redis` or `Cluster` of `ioredis`, or one that behaves like it. */
export interface RedisClient {
  /** Its state, such as `ready`. */
  readonly status: string
  /** Makes another client with the same options. */
  duplicate(): object
}

/** An argument of a command. */
export type Argument = string | number

/** The part of a client that the stores use. Scripts are methods that `defineCommand` adds. */
export interface Client {
  readonly status: string
  /** The connection to the server; a client of a cluster has many, and none here. */
  readonly stream?: Corkable
  connect(): Promise<void>
  disconnect(): void
  defineCommand(name: string, script: { readonly lua: string; readonly numberOfKeys: number }): void
  call(command: string, ...values: readonly Argument[]): Promise<unknown>
  xread(...values: readonly Argument[]): Promise<unknown>
  subscribe(...channels: readonly string[]): Promise<unknown>
  unsubscribe(...channels: readonly string[]): Promise<unknown>
  on(event: string, listener: (...values: readonly unknown[]) => void): unknown
}

/** A connection whose writes can be held back. */
interface Corkable {
  readonly writableCorked: number
  cork(): void
  uncork(): void
}

/** Sends the commands of a turn of the event loop together, which takes far less time than one after the other. */
export function sendTogether({ stream }: Client): void {
  // Streams of other runtimes may lack it.
  if (stream?.writableCorked !== 0) return
  stream.cork()
  setImmediate(() => stream.uncork())
}

/** Where and how to connect. */
export interface ClientSettings {
  readonly url: string
  /** The client whose options are used instead of the URL. */
  readonly template: RedisClient | undefined
  readonly timeoutMs: number
}

/** The pauses between attempts to connect. */
const RETRY_PAUSES = { firstMs: 20, maxMs: 1000 }

/** Time for the answer to a command that does not come back at once. */
export const BLOCK_MS = 5000

interface Ioredis {
  readonly Redis: new (url: string, options: object) => Client
}

/** Makes a client, which does not connect yet. `isWaiting` is for connections whose commands wait for something to happen. */
export async function makeClient(settings: ClientSettings, isWaiting: boolean): Promise<Client> {
  const { url, template, timeoutMs } = settings
  const options = optionsOf(timeoutMs, isWaiting)
  if (template === undefined) {
    const { Redis } = await loadIoredis()
    return new Redis(url, { ...options, ...QUEUELESS })
  }
  const { isCluster, duplicate } = template as unknown as Template
  if (isCluster !== true) return duplicate.call(template, { ...options, ...QUEUELESS })
  return duplicate.call(template, [], {
    ...QUEUELESS,
    keyPrefix: '',
    scaleReads: 'master',
    clusterRetryStrategy: retryStrategy,
    redisOptions: options,
  })
}

/** Makes a client for BullMQ, which keeps commands while the connection is lost, and makes further connections with the same options. */
export async function makeQueueClient({ url, template, timeoutMs }: ClientSettings): Promise<Client> {
  const options = {
    maxRetriesPerRequest: null,
    connectTimeout: Math.max(timeoutMs, RETRY_PAUSES.maxMs),
    socketTimeout: 2 * BLOCK_MS + 2 * timeoutMs,
    retryStrategy,
    reconnectOnError: isDemoted,
    keyPrefix: '',
    protocol: 2,
  }
  if (template === undefined) {
    const { Redis } = await loadIoredis()
    return new Redis(url, { ...options, lazyConnect: true })
  }
  const { isCluster, duplicate } = template as unknown as Template
  if (isCluster !== true)
    return duplicate.call(template, { ...options, lazyConnect: true, enableOfflineQueue: true })
  return duplicate.call(template, [], {
    lazyConnect: true,
    enableOfflineQueue: true,
    keyPrefix: '',
    scaleReads: 'master',
    clusterRetryStrategy: retryStrategy,
    redisOptions: options,
  })
}

/** The part of a given client that is used. */
interface Template {
  readonly isCluster?: boolean
  duplicate(...given: readonly object[]): Client
}

/** Commands are not kept while the connection is lost: they would be sent long after their request has failed. */
const QUEUELESS = { lazyConnect: true, enableOfflineQueue: false }

/** The pause before an attempt to connect. */
const retryStrategy = (times: number): number => delayOf(times - 1, RETRY_PAUSES, Math.random)

/** Whether a command met a replica that was the primary: the name leads to another one now. */
const isDemoted = ({ message }: Error): boolean => message.startsWith('READONLY')

function optionsOf(timeoutMs: number, isWaiting: boolean): object {
  return {
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    connectTimeout: Math.max(timeoutMs, RETRY_PAUSES.maxMs),
    // Connections may break without notice; a command then never gets an answer.
    socketTimeout: (isWaiting ? BLOCK_MS : 0) + 2 * timeoutMs,
    commandTimeout: isWaiting ? undefined : timeoutMs,
    retryStrategy,
    reconnectOnError: isDemoted,
    keyPrefix: '',
    protocol: 2,
  }
}

/** Whether the server rejected a command. */
export function isReply(error: unknown): boolean {
  return (error as { readonly name?: unknown }).name === 'ReplyError'
}

async function loadIoredis(): Promise<Ioredis> {
  try {
    return (await import('ioredis')) as unknown as Ioredis
  } catch (cause) {
    throw mcpError(REDIS_UNAVAILABLE, { reason: 'the package ioredis cannot be loaded' }, { cause })
  }
}
