import { readAddress, readRange, toBytes } from './address.ts'
import { LOOPBACK_RANGES } from './loopback.ts'

/** Where an address leads: to this computer, to a network of its own, to the internet, or nowhere that a request should go. */
export type Place = 'loopback' | 'private' | 'public' | 'special'

type Test = (address: string) => boolean

/** The ranges that are not public (RFC 6890 and its successors), in the order in which they are tried. */
const PLACES: readonly (readonly [Place, readonly Test[]])[] = [
  ['loopback', testsOf(LOOPBACK_RANGES)],
  [
    'private',
    // 100.64.0.0/10 is shared by the customers of a provider, and by the members of some virtual networks.
    testsOf(['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']),
  ],
  [
    'special',
    testsOf([
      '0.0.0.0/8',
      '169.254.0.0/16',
      '192.0.0.0/24',
      '192.0.2.0/24',
      '192.88.99.0/24',
      '198.18.0.0/15',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '224.0.0.0/4',
      '240.0.0.0/4',
      // Only 2000::/3 is public. The rest includes link-local, site-local and multicast addresses, and IPv4 in IPv6.
      '::/3',
      '4000::/2',
      '8000::/1',
      '2001::/23',
      '2001:db8::/32',
      '2002::/16',
      '3fff::/20',
    ]),
  ],
]

/** IPv4 addresses as networks with IPv6 alone reach them (NAT64). The standard allows it for public ones only. */
const [isTranslated] = testsOf(['64:ff9b::/96']) as [Test]

/** The place of an IP address. One that cannot be read is special. */
export function placeOf(text: string): Place {
  const address = readAddress(text)
  if (address === undefined) return 'special'
  if (isTranslated(address))
    return placeOf(toBytes(address)!.slice(12).join('.')) === 'public' ? 'public' : 'special'
  return PLACES.find(([, tests]) => tests.some((contains) => contains(address)))?.[0] ?? 'public'
}

/** Names that the public DNS never has: those without a dot, and the domains reserved for local networks. */
const LOCAL_NAME = /^[^.]+$|\.(?:local|internal|home\.arpa|localdomain)$/

/** The place of the host of an http URL, as far as its spelling tells; undefined if only DNS knows. */
export function placeOfHost(hostname: string): Place | undefined {
  const name = hostname.toLowerCase().replace(/\.$/, '')
  if (/^(?:.*\.)?localhost$/.test(name)) return 'loopback'
  if (/^\[.*\]$|^[\d.]+$/.test(name)) return placeOf(name)
  return LOCAL_NAME.test(name) ? 'private' : undefined
}

function testsOf(ranges: readonly string[]): readonly Test[] {
  return ranges.flatMap((range) => readRange(range) ?? [])
}
