import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { checkOptions } from '../base/options.ts'
import { untrustedText } from '../base/untrusted-text.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { REVISIONS, type Revision } from '../protocol/revisions.ts'
import { DIALECTS, type Dialects } from '../protocol/switches.ts'
import { readHost, readOrigin } from '../transport/http/server/hosts.ts'
import {
  CAPABILITY_WORDS,
  GIST_OPTIONS,
  MOUNT_OPTIONS,
  type MountOptions,
  type ServerOptions,
} from './options.ts'

/** What a server says it is. */
export function infoOf(options: ServerOptions): JsonObject {
  const { title, description, websiteUrl, icons, version } = options
  const name = options.name ?? options.id
  for (const [key, value] of Object.entries<unknown>({ name, version })) {
    if (value === undefined || value === '') throw badOption('createServer', `a server needs a ${key}`)
  }
  const optional = Object.entries({ title, description, websiteUrl, icons }).filter(
    ([, value]) => value !== undefined,
  )
  return Object.freeze({ name, version, ...Object.fromEntries(optional) })
}

/** The revisions to serve, oldest first. */
export function revisionsOf({ revisions = REVISIONS }: ServerOptions): readonly Revision[] {
  if (revisions.length === 0) throw badOption('revisions', 'name at least one')
  return REVISIONS.filter((revision) => revisions.includes(revision))
}

/** How each revision is spoken. */
export function dialectsOf({ profile }: ServerOptions): Dialects {
  return profile?.dialects ?? DIALECTS
}

/** The capabilities that are declared before anything that needs them is defined. */
export function declaredOf({ capabilities: words = [] }: ServerOptions): ReadonlySet<string> {
  const unknown = words.find((word) => !CAPABILITY_WORDS.includes(word))
  if (unknown !== undefined)
    throw badOption('capabilities', `"${unknown}" is none of ${CAPABILITY_WORDS.join(', ')}`)
  return new Set([...words, 'logging'])
}

/** The options of a mount, which are checked at once rather than with its first request. */
export function checkMount(where: string, options: MountOptions): MountOptions {
  checkOptions(where, options, MOUNT_OPTIONS)
  checkGist(where, options)
  options.hosts?.forEach(readHost)
  options.cors?.forEach(readOrigin)
  return options
}

/** Refuses what is not a way to serve the gist. */
export function checkGist(where: string, { gist = false }: MountOptions): void {
  if (typeof gist === 'object') checkOptions(`${where} gist`, gist, GIST_OPTIONS)
}

/** The secrets to seal with; undefined when none was given. */
export function secretsOf({ secret }: ServerOptions): readonly string[] | undefined {
  const env = (globalThis as { process?: { env: Record<string, string | undefined> } }).process?.env
  const given = secret ?? env?.['PIERHEAD_SECRET']
  if (given === undefined) return undefined
  const secrets = typeof given === 'string' ? [given] : given
  if (secrets.length === 0 || secrets.some((one) => one.length < 16))
    throw badOption('secret', 'it needs at least 16 characters')
  return secrets
}

/** What a server tells its operator with. Whatever was thrown is told as plain data, in `error`. */
export function reporterOf({ log = reportToStderr }: ServerOptions): NonNullable<ServerOptions['log']> {
  return (level, message, facts) =>
    log(
      level,
      message,
      facts !== undefined && 'error' in facts ? { ...facts, error: plainly(facts['error']) } : facts,
    )
}

function plainly(thrown: unknown): JsonObject {
  if (!(thrown instanceof Error)) return { name: typeof thrown, message: inspected(thrown) }
  const { name, message, stack, cause } = thrown
  return { name, message, stack, ...(cause instanceof Error ? { cause: plainly(cause) } : {}) }
}

function inspected(thrown: unknown): string {
  try {
    return untrustedText(thrown)
  } catch {
    return 'something that cannot be shown'
  }
}

/** Tells an operator without a log of their own. Control characters are escaped. */
export function reportToStderr(level: 'warning' | 'error', message: string, facts: JsonObject = {}): void {
  const { error, ...rest } = facts
  const { message: words, stack = words } = (error ?? {}) as { message?: string; stack?: string }
  // oxlint-disable-next-line no-console -- the last resort of a server without a log
  console.error('%s', `pierhead ${level}: ${printable(message)}`, {
    ...rest,
    ...(error === undefined ? {} : { error: stack }),
  })
}

/** A message may repeat what a client said; that must neither end the line nor steer a terminal. */
function printable(message: string): string {
  const escaped = (letter: string): string => `\\u{${letter.codePointAt(0)!.toString(16)}}`
  return message.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, escaped)
}

function badOption(where: string, reason: string): Error {
  return mcpError(BAD_OPTION, { where, reason })
}
