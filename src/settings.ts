import { mcpError } from './protocol/errors.ts'
import type { JsonObject } from './protocol/jsonrpc.ts'
import { isRevision, REVISIONS, type Revision } from './protocol/revisions.ts'
import type { ServerOptions } from './options.ts'

/** What a server says it is. */
export function infoOf(options: ServerOptions): JsonObject {
  const { title, description, websiteUrl, icons, version } = options
  const name = options.name ?? options.id
  if (name === undefined || name === '') throw badOption('createServer', 'a server needs a name')
  if (typeof version !== 'string' || version === '')
    throw badOption('createServer', 'a server needs a version')
  const optional = Object.entries({ title, description, websiteUrl, icons }).filter(
    ([, value]) => value !== undefined,
  )
  return Object.freeze({ name, version, ...Object.fromEntries(optional) })
}

/** The revisions to serve, oldest first. */
export function revisionsOf({ revisions = REVISIONS }: ServerOptions): readonly Revision[] {
  const unknown = revisions.find((revision) => !isRevision(revision))
  if (unknown !== undefined)
    throw badOption('revisions', `"${String(unknown)}" is none of ${REVISIONS.join(', ')}`)
  if (revisions.length === 0) throw badOption('revisions', 'name at least one')
  return REVISIONS.filter((revision) => revisions.includes(revision))
}

/** The secrets to seal with; a random one when none was given. */
export function secretsOf({ secret }: ServerOptions): readonly string[] {
  const env = (globalThis as { process?: { env: Record<string, string | undefined> } }).process?.env
  const given = secret ?? env?.['PIERHEAD_SECRET'] ?? crypto.randomUUID() + crypto.randomUUID()
  const secrets = typeof given === 'string' ? [given] : given
  if (secrets.length === 0 || secrets.some((one) => one.length < 16))
    throw badOption('secret', 'it needs at least 16 characters')
  return secrets
}

/** Tells an operator without a log of their own. Control characters are escaped. */
export function reportToStderr(level: 'warning' | 'error', message: string, facts: JsonObject = {}): void {
  const { error, ...rest } = facts
  const told = error instanceof Error ? { error: error.stack } : error === undefined ? {} : { error }
  // oxlint-disable-next-line no-console -- the last resort of a server without a log
  console.error(`pierhead ${level}: ${JSON.stringify(message).slice(1, -1)}`, { ...rest, ...told })
}

function badOption(where: string, reason: string): Error {
  return mcpError('bad_option', { where, reason })
}
