import type { LookupAddress, LookupAllOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** Resolves a name to all its addresses, as `lookup` of `node:dns` does. */
export type Resolver = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * A lookup for connections that resolves a name once and connects only to what it found. If any address has a fault, no
 * connection is made.
 */
export function checkedLookup(
  resolver: Resolver,
  faultOf: (address: string) => Error | undefined,
): LookupFunction {
  return (hostname, options, done) => {
    resolver(hostname, { ...options, all: true }, (error, found) => {
      // Node passes no addresses with an error.
      const addresses = error === null ? found : []
      const [first] = addresses
      const fault = error ?? addresses.map(({ address }) => faultOf(address)).find((one) => one !== undefined)
      if (fault !== undefined || first === undefined)
        done(fault ?? new Error(`${hostname} has no address`), '', 0)
      else if (options.all === true) done(null, addresses)
      else done(null, first.address, first.family)
    })
  }
}
