import { toMs, type Duration } from '../base/duration.ts'
import { callable, DURATION, object, TEXT, type KindsOf } from '../base/kinds.ts'
import { badOption, checkOptions, rejectSecond } from '../base/options.ts'
import { RedisCacheStore } from './cache-redis.ts'
import { BUS_ROOM } from './changes-memory.ts'
import { RedisChangeBus } from './changes-redis.ts'
import type { DriverOf } from './driver.ts'
import { RedisEventStore } from './events-redis.ts'
import { RedisNodeStore } from './nodes-redis.ts'
import { RedisRateStore } from './rates-redis.ts'
import type { RedisClient } from './redis-client.ts'
import { RedisLink } from './redis-link.ts'
import { RedisNews } from './redis-news.ts'
import { RedisSessionStore } from './sessions-redis.ts'
import { RedisTaskStore } from './tasks-redis.ts'
import type { LogRoom } from './text-log.ts'

export type { RedisClient } from './redis-client.ts'

/** Options of `redis`. */
export interface RedisOptions {
  /** Where Redis or Valkey is; `rediss:` uses TLS. Default: `redis://127.0.0.1:6379`. */
  readonly url?: string | undefined
  /**
   * A client whose options are used instead of the URL, for clusters, sentinels and certificates. The driver opens connections of its
   * own with these options; you close your client. Default: none.
   */
  readonly client?: RedisClient | undefined
  /** Begins all keys and channels, so that others can use the same server. Default: `pierhead`. */
  readonly prefix?: string | undefined
  /** How long a step may take, also while Redis is away; then it fails. From 10 ms to 1 h. Default: 2 s. */
  readonly commandTimeout?: Duration | undefined
  /**
   * How long a process counts as alive after its last sign of life, of which there are three in this time. Other processes then take
   * over its tasks. From 1 s to 24 h. Default: 15 s.
   */
  readonly lease?: Duration | undefined
  /** Called once for each setting of Redis that may lose accepted work, and for each of up to 20 errors that an operator must correct and no request gets. Default: a warning of the process. */
  readonly warn?: ((text: string) => void) | undefined
}

const OPTIONS: KindsOf<RedisOptions> = {
  url: TEXT,
  client: object('a client of ioredis'),
  prefix: TEXT,
  commandTimeout: DURATION,
  lease: DURATION,
  warn: callable(),
}

/** Options of ioredis that a URL has. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map(
  ['host', 'port', 'username', 'password', 'db'].map((name) => [
    name,
    "write url: 'redis://host:6379', with user and password if it needs them: 'redis://user:password@host:6379/0'",
  ]),
)

const SHORTEST_TIMEOUT_MS = 10
const LONGEST_TIMEOUT_MS = 60 * 60 * 1000
const SHORTEST_LEASE_MS = 1000
const LONGEST_LEASE_MS = 24 * 60 * 60 * 1000

type RedisDriver = DriverOf<'tasks' | 'sessions' | 'events' | 'changes' | 'cache' | 'rates' | 'nodes'>

/**
 * Keeps everything in Redis 6.2 or newer, or in Valkey, so that several nodes can share it. Needs the package `ioredis`, and `bullmq` for
 * tasks; connects when it is first used.
 *
 * @example
 * const app = createServer({ name: 'films', version: '1.0.0', store: redis('redis://10.0.0.7:6379') })
 */
export function redis(where?: string | RedisOptions): RedisDriver
export function redis(where: string | RedisOptions = {}, more?: object): RedisDriver {
  rejectSecond('redis', 'url', more)
  return openRedis(where, BUS_ROOM)
}

/** The same with another size of the bus. */
export function openRedis(given: string | RedisOptions, busRoom: LogRoom): RedisDriver {
  const options = typeof given === 'string' ? { url: given } : given
  checkOptions<RedisOptions>('redis', options, OPTIONS, ELSEWHERE)
  const { client, prefix = 'pierhead', commandTimeout = '2s', lease = '15s' } = options
  const { url = 'redis://127.0.0.1:6379', warn = (text) => process.emitWarning(text) } = options
  if (client !== undefined && options.url !== undefined)
    throw badOption('redis', 'url and client exclude each other; pass one of them')
  if (client !== undefined && typeof client.duplicate !== 'function')
    throw badOption('redis', 'client has no function duplicate; pass a Redis or Cluster of ioredis')
  if (!/^[^{}\s]+$/.test(prefix))
    throw badOption('redis', 'prefix must be a text without spaces and braces, such as films')
  const timeoutMs = toMs(commandTimeout, 'redis commandTimeout')
  if (timeoutMs < SHORTEST_TIMEOUT_MS || timeoutMs > LONGEST_TIMEOUT_MS)
    throw badOption('redis commandTimeout', "use a time from '10ms' to '1h', such as '2s'")
  const leaseMs = toMs(lease, 'redis lease')
  if (leaseMs < SHORTEST_LEASE_MS || leaseMs > LONGEST_LEASE_MS)
    throw badOption('redis lease', "use a time from '1s' to '24h', such as '15s'")
  const place = client === undefined ? placeOf(url) : 'the server of the given client'
  const link = new RedisLink({ url: urlOf(url), template: client, timeoutMs, place, prefix, warn })
  const news = new RedisNews(link)
  const tasks = new RedisTaskStore(link, news, leaseMs)
  const nodes = new RedisNodeStore(link)
  return {
    tasks,
    sessions: new RedisSessionStore(link, nodes),
    events: new RedisEventStore(link, news, nodes),
    changes: new RedisChangeBus(link, busRoom, nodes),
    cache: new RedisCacheStore(link),
    rates: new RedisRateStore(link),
    nodes,
    close: () => tasks.close(),
  }
}

const SCHEMES: ReadonlyMap<string, string> = new Map([
  ['redis:', 'redis:'],
  ['rediss:', 'rediss:'],
  ['valkey:', 'redis:'],
  ['valkeys:', 'rediss:'],
])

/** The URL as ioredis knows it. Errors never repeat it, because it may hold a password. */
function urlOf(url: string): string {
  const { protocol } = parsed(url)
  return `${SCHEMES.get(protocol) ?? protocol}${url.slice(protocol.length)}`
}

function placeOf(url: string): string {
  return parsed(url).host
}

function parsed(url: string): URL {
  const found = URL.canParse(url) ? new URL(url) : undefined
  if (found === undefined || !SCHEMES.has(found.protocol) || found.host === '')
    throw badOption('redis', "url must be the URL of a server, such as 'redis://127.0.0.1:6379'")
  return found
}
