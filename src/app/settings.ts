import { toMs } from '../base/duration.ts'
import { badOption, checkOptions } from '../base/options.ts'
import { readEnv } from '../base/runtime.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { REVISIONS, type Revision } from '../protocol/revisions.ts'
import { DIALECTS, type Dialects } from '../protocol/switches.ts'
import { checkAuth } from './auth.ts'
import { reporterOf } from './report.ts'
import { createLateSealer } from '../server/late-sealer.ts'
import type { ServiceOptions } from '../server/service.ts'
import { readHost, readOrigin } from '../transport/http/server/hosts.ts'
import {
  CAPABILITY_WORDS,
  IDLE_WORDS,
  GIST_OPTIONS,
  MOUNT_OPTIONS,
  needs,
  SERVER_OPTIONS,
  type ListenOptions,
  type MountOptions,
  type ServerOptions,
} from './options.ts'
import { checkStore, withNodes } from './store-option.ts'
import type { StoresInUse } from './stores-in-use.ts'

/** The name, version and other facts that a server reports about itself. */
export function infoOf(options: ServerOptions): JsonObject {
  const { title, description, websiteUrl, icons, version, id } = options
  const name = options.name ?? id
  if (id !== undefined && id !== name) {
    const reason = `"id" is another word for "name", and they differ; write only name: '${name}', and title for people`
    throw badOption('createServer', reason)
  }
  for (const [key, value] of Object.entries<unknown>({ name, version })) {
    if (value === undefined || value === '') throw badOption('createServer', needs(key))
  }
  const optional = Object.entries({ title, description, websiteUrl, icons }).filter(
    ([, value]) => value !== undefined,
  )
  return Object.freeze({ name, version, ...Object.fromEntries(optional) })
}

/** The revisions to serve, oldest first. */
export function revisionsOf({ revisions = REVISIONS }: ServerOptions): readonly Revision[] {
  if (revisions.length === 0) throw badOption('revisions', `name at least one revision, such as '2025-11-25'`)
  return REVISIONS.filter((revision) => revisions.includes(revision))
}

/** The dialect of each revision. */
function dialectsOf({ profile }: ServerOptions): Dialects {
  return profile?.dialects ?? DIALECTS
}

/** The capabilities to declare even if nothing that needs them is defined. */
function declaredOf({ capabilities: words = [] }: ServerOptions): ReadonlySet<string> {
  const unknown = words.find((word) => !CAPABILITY_WORDS.includes(word))
  if (unknown !== undefined)
    throw badOption('capabilities', `"${unknown}" is not a capability; use ${CAPABILITY_WORDS.join(', ')}`)
  return new Set([...words, 'logging'])
}

/** Warns of words that mean nothing here, so that nobody takes them for a promise. */
function warnOfIdle({ capabilities: words = [] }: ServerOptions, report: ServiceOptions['report']): void {
  const idle = words.filter((word) => IDLE_WORDS.includes(word))
  if (idle.length === 0) return
  const text = 'Pierhead has no such features, so clients are not told of them; leave these words out'
  report('warning', `capabilities: ${idle.join(', ')}: ${text}`)
}

/** Checks the options of a mount when it is created rather than with its first request. */
export function checkMount(where: string, options: MountOptions): MountOptions {
  checkOptions(where, options, MOUNT_OPTIONS)
  checkGist(where, options)
  checkAuth(where, options.auth)
  if (where === 'fetchWith' && typeof options.trustProxy === 'object') {
    const reason = 'web requests do not say which address they come from: use true, or the number of proxies'
    throw badOption('fetchWith trustProxy', reason)
  }
  options.hosts?.forEach(readHost)
  options.cors?.forEach(readOrigin)
  return options
}

/** Names that other libraries use for our options. */
const ALIASES = new Map([['logger', 'log']])

/** Checks the options of a server, and turns them into those of its service. */
export function readOptions(
  options: ServerOptions,
  stores: StoresInUse,
): Omit<ServiceOptions, 'limits' | 'sealer'> {
  if (typeof options !== 'object')
    throw badOption(
      'createServer',
      "expected an object; write createServer({ name: 'orders', version: '1.0.0' })",
    )
  checkOptions('createServer', options, SERVER_OPTIONS, ALIASES)
  checkAuth('createServer', options.auth)
  const { instructions, pageSize = 1000, ttl = 0, experimental, extensions, errors } = options
  const info = infoOf(options)
  const declared = declaredOf(options)
  const report = reporterOf(options)
  warnOfIdle(options, report)
  return {
    info,
    instructions,
    pageSize,
    ttlMs: toMs(ttl, 'createServer ttl'),
    revisions: revisionsOf(options),
    dialects: dialectsOf(options),
    declared,
    experimental,
    extensions,
    openTasks: tasksOpener(options, stores),
    keepsTasks: () => stores.current?.tasks !== undefined,
    showsErrors: errors === 'show',
    report,
  }
}

/** The stores to begin with: those of the options, or none, and so the memory of the process, if `PIERHEAD_STORE` is `memory`, as in a test. */
export function storeOf(options: Partial<ServerOptions> | undefined): ServerOptions['store'] {
  return readEnv('PIERHEAD_STORE') === 'memory' ? undefined : withNodes(options?.store)
}

/** Opens the store of tasks: the given one, or the memory of the process. */
function tasksOpener({ store }: ServerOptions, stores: StoresInUse): ServiceOptions['openTasks'] {
  if (store !== undefined) checkStore(store)
  return async () => {
    const used = stores.current?.tasks
    if (used !== undefined) return { store: used, isInMemory: used.isInMemory === true }
    const { MemoryTaskStore } = await import('../store/tasks-memory.ts')
    return { store: new MemoryTaskStore(), isInMemory: true }
  }
}

/** The transports that `listen` opens without options. */
export function defaultListen({ transports = ['stdio'] }: ServerOptions): ListenOptions {
  return { stdio: transports.includes('stdio'), http: transports.includes('http') }
}

/** Checks the options of the gist endpoint. */
export function checkGist(where: string, { gist }: MountOptions): void {
  if (typeof gist === 'object') checkOptions(`${where} gist`, gist, GIST_OPTIONS)
}

/** The secrets for sealing, from the option or else the environment; undefined if there are none. */
export function secretsOf({ secret }: ServerOptions): readonly string[] | undefined {
  const given = secret ?? readEnv('PIERHEAD_SECRET')
  if (given === undefined) return undefined
  const secrets = typeof given === 'string' ? [given] : given
  if (secrets.length === 0 || secrets.some((one) => one.length < 16))
    throw badOption('secret', 'use at least 16 characters, for example from: openssl rand -hex 32')
  return secrets
}

/** How long the state that a client carries stays valid. */
const STATE_TTL_MS = 15 * 60_000

/**
 * The sealer of the state that clients carry. It reads the environment when a state is first sealed, because not every runtime
 * allows it earlier.
 */
export function sealerOf(
  options: ServerOptions,
  stores: StoresInUse,
  onForeign: () => void,
): ServiceOptions['sealer'] {
  if (options.secret !== undefined) secretsOf(options)
  const server = String(options.name ?? options.id)
  return createLateSealer(async () => {
    const secrets = secretsOf(options) ?? (await storedSecret(stores, server))
    return { server, secrets, ttlMs: STATE_TTL_MS, onForeign }
  })
}

/** The secret that all nodes of the server share; undefined if there are no others. */
async function storedSecret(
  { current }: StoresInUse,
  server: string,
): Promise<readonly string[] | undefined> {
  if (current?.nodes === undefined) return undefined
  return [await current.nodes.secret(server, crypto.randomUUID() + crypto.randomUUID())]
}
