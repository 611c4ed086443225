import { readRange } from './address.ts'

/** The addresses that never leave this machine. */
export const LOOPBACK_RANGES: readonly string[] = ['127.0.0.0/8', '::1']

const RANGES = LOOPBACK_RANGES.flatMap((range) => readRange(range) ?? [])

/** Whether an address belongs to this machine only. */
export function isLoopbackAddress(address: string): boolean {
  return RANGES.some((contains) => contains(address))
}

/** Whether a host always means this machine: `localhost` or an address, which may have the brackets that URLs put around IPv6. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host.replace(/^\[(.*)\]$/, '$1'))
}
