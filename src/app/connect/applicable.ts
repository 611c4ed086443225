import { fetchOver } from '#fetch'
import { badOption } from '../../base/options.ts'
import { isCommand, isLocal, isTarget, urlOf, type Target } from '../../client/target.ts'
import type { ConnectOptions } from './connect.ts'

const HEADERS: readonly string[] = ['http', 'https', 'ws', 'wss']
const SOCKETS: readonly string[] = ['tcp', 'tls', 'unix']

/** The options that have an effect only for some targets, and the kinds of those. */
const APPLIES = {
  headers: HEADERS,
  auth: HEADERS,
  fetch: ['http', 'https'],
  inherit: ['command'],
  keys: ['command'],
  tls: ['https', 'tls', 'wss'],
  heartbeat: [...SOCKETS, 'ws', 'wss'],
  connections: SOCKETS,
  framing: SOCKETS,
} satisfies Partial<Record<keyof ConnectOptions, readonly string[]>>

type Special = keyof typeof APPLIES
const SPECIAL = Object.keys(APPLIES) as readonly Special[]

/** Rejects options that have no effect for a target, since the caller expects one. */
export function checkApplicable(target: Target, options: ConnectOptions): void {
  const kind = kindOf(target)
  if (kind === 'https' && isGiven(options.tls)) {
    if (options.fetch !== undefined)
      throw badOption('connect tls', 'fetch replaces it; give only one of the two')
    if (fetchOver === undefined) throw badOption('connect tls', 'this runtime decides about TLS; remove it')
  }
  const name = SPECIAL.find((one) => isGiven(options[one]) && !APPLIES[one].includes(kind))
  if (name === undefined) return
  const where = APPLIES[name].map((one) => (one === 'command' ? 'server programs' : `${one}://`)).join(', ')
  const remedy =
    name === 'auth' && kind === 'command'
      ? 'a program takes its credentials from its environment: { command, env }'
      : 'remove it'
  throw badOption(`connect ${name}`, `it applies only to ${where}; ${remedy}`)
}

/** Those of the options of a group that have an effect for one of its servers. */
export function applicable(target: Target, options: ConnectOptions): ConnectOptions {
  const kind = kindOf(target)
  const isReplaced = (name: Special): boolean =>
    name === 'tls' && kind === 'https' && options.fetch !== undefined
  const unused = SPECIAL.filter((name) => !APPLIES[name].includes(kind) || isReplaced(name))
  return Object.fromEntries(Object.entries(options).filter(([name]) => !unused.includes(name as Special)))
}

function isGiven(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value !== undefined
  return Object.getPrototypeOf(value) !== Object.prototype || Object.keys(value).length > 0
}

/** A server in this process, a command, or the scheme of a URL; empty for anything else. */
function kindOf(target: Target): string {
  if (!isTarget(target)) return ''
  if (isLocal(target)) return 'memory'
  return isCommand(target) ? 'command' : (urlOf(target)?.protocol.slice(0, -1) ?? '')
}
