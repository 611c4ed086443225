import { readAddress, readRange } from '../../../base/address.ts'
import type { Kind } from '../../../base/kinds.ts'
import { LOOPBACK_RANGES } from '../../../base/loopback.ts'

/** Which proxies to believe: one, so many in a row, or those with these addresses. */
export type TrustProxy = boolean | number | readonly string[]

/** The ranges that other servers have names for. */
const RANGES: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['loopback', LOOPBACK_RANGES],
  ['linklocal', ['169.254.0.0/16', 'fe80::/10']],
  ['uniquelocal', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
])

/** How many proxies in a row are believed by their addresses. A client behind the first one could name very many. */
const MOST_HOPS = 32

export const TRUST_PROXY: Kind<TrustProxy> = {
  must: `true, the number of proxies in a row, or a list of their addresses, such as ['10.0.0.0/8', '::1']`,
  is: (value) =>
    typeof value === 'boolean' ||
    (Number.isInteger(value) && (value as number) > 0) ||
    (Array.isArray(value) && value.every(isRange)),
  write(name, value) {
    if (typeof value === 'string' && /^(?:true|false|[1-9]\d{0,2})$/.test(value))
      return `write ${name}: ${value}`
    const given: unknown = typeof value === 'string' ? value.split(',').map((one) => one.trim()) : value
    if (!Array.isArray(given)) return undefined
    const list = (given as readonly unknown[]).flatMap((one): readonly unknown[] => RANGES.get(one) ?? [one])
    const wrong = list.findIndex((one) => !isRange(one))
    if (wrong !== -1) return `${JSON.stringify(list[wrong])} is not an IP address or range`
    return `write ${name}: [${list.map((one) => `'${String(one)}'`).join(', ')}]`
  },
  repeats: true,
}

/** Decides whether to believe a proxy: by its address, or by how many are between it and the server. */
export type Trust = (address: string | undefined, hop: number) => boolean

/** The facts about a request that proxies report. */
export interface Forwarded {
  readonly host?: string | undefined
  readonly scheme?: string | undefined
  /** The address of the client. */
  readonly ip: string | undefined
}

/** The trust that an option grants; undefined if none. */
export function readTrust(option: TrustProxy = false): Trust | undefined {
  if (option === false) return undefined
  if (typeof option !== 'object') return (_, hop) => hop < Number(option)
  const ranges = option.map(readRange)
  return (address, hop) =>
    address !== undefined && hop < MOST_HOPS && ranges.some((inRange) => inRange?.(address))
}

/**
 * Reads what the proxies before the server say. Each appends the address that it was called from, so the list is believed from its
 * end, for as long as the next address is that of a trusted proxy; a client may have written the rest.
 */
export function readForwarded(
  trusts: Trust,
  peer: string | undefined,
  header: (name: string) => string | undefined,
): Forwarded {
  if (!trusts(peer, 0)) return { ip: peer }
  const chain = listOf(header('x-forwarded-for'))
  let ip = peer
  for (let hop = 0; chain.length > 0 && trusts(ip, hop); hop++) ip = readAddress(chain.pop())
  const scheme = listOf(header('x-forwarded-proto')).pop()?.toLowerCase()
  return {
    host: listOf(header('x-forwarded-host')).pop(),
    scheme: scheme === 'http' || scheme === 'https' ? scheme : undefined,
    ip,
  }
}

function listOf(header: string | undefined): string[] {
  const values = header?.split(',').map((value) => value.trim()) ?? []
  return values.filter((value) => value !== '')
}

function isRange(value: unknown): boolean {
  return typeof value === 'string' && readRange(value) !== undefined
}
