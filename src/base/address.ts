import { remember } from './remember.ts'
import { isUrl, parseUrl } from '../protocol/url.ts'

/** More than an address takes, also with brackets, a zone and a port. */
const MOST_CHARS = 128
/** Each request asks for the address of its client, and most clients send many. */
const REMEMBERED = 1000

const readOnce = remember(readSpelling, REMEMBERED)
const networkOnce = remember(readNetwork, REMEMBERED)

/**
 * An IP address in its one spelling, without a port, brackets or zone: IPv6 as in RFC 5952, and IPv4 in IPv6 as IPv4. Undefined
 * if the text is not an address.
 */
export function readAddress(text: string | undefined): string | undefined {
  return text === undefined || text.length > MOST_CHARS ? undefined : readOnce(text)
}

function readSpelling(text: string): string | undefined {
  const [, inBrackets, beforePort] = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(text) ?? []
  const plain = (inBrackets ?? beforePort ?? text).replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
  const bytes = toBytes(plain)
  return bytes?.length === 4 ? bytes.join('.') : bytes && spelled(plain)
}

/** Identifies a client by its address or, with IPv6, where one client has 2^64 addresses, by its network. */
export function networkOf(address: string): string {
  return address.includes(':') ? networkOnce(address) : address
}

function readNetwork(address: string): string {
  const bytes = toBytes(address)
  return bytes?.length === 16 ? bytes.slice(0, 8).join('.') : address
}

/** Reads a range such as `10.0.0.0/8`, or one address, as a test for addresses; undefined if the text is neither. */
export function readRange(text: string): ((address: string) => boolean) | undefined {
  const [, start = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const first = toBytes(start)
  // IPv4 in IPv6 has its prefix counted in either way, so it must be written as IPv4.
  if (first === undefined || (length !== undefined && first.length === 4 && start.includes(':')))
    return undefined
  const bits = Number(length ?? first.length * 8)
  if (bits > first.length * 8) return undefined
  return (address) => {
    const bytes = toBytes(address)
    return (
      bytes?.length === first.length && first.every((byte, at) => isSame(byte, bytes[at]!, bits - 8 * at))
    )
  }
}

/** Whether the first `bits` bits of two bytes are the same. */
function isSame(one: number, other: number, bits: number): boolean {
  return bits <= 0 || (one ^ other) >> Math.max(0, 8 - bits) === 0
}

/** The 4 or 16 bytes of an address. IPv4 in IPv6 has 4. */
export function toBytes(address: string): readonly number[] | undefined {
  const decimal = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/.exec(address)
  if (decimal !== null) {
    const bytes = decimal.slice(1).map(Number)
    return bytes.every((byte) => byte < 256) ? bytes : undefined
  }
  const text = spelled(address)
  if (text === undefined) return undefined
  const [start = '', end] = text.split('::')
  const [before, after] = [start, end ?? ''].map((part) => (part === '' ? [] : part.split(':')))
  const zeros = Array<string>(8 - before!.length - after!.length).fill('0')
  const groups = [...before!, ...zeros, ...after!].map((group) => Number.parseInt(group, 16))
  const bytes = groups.flatMap((group) => [group >> 8, group & 255])
  return groups.slice(0, 6).join() === '0,0,0,0,0,65535' ? bytes.slice(12) : bytes
}

/** IPv6 as RFC 5952 spells it: every runtime can parse it as part of a URL, and writes it in this way. */
function spelled(address: string): string | undefined {
  const url = `http://[${address}]`
  return /^[0-9a-f:.]+$/i.test(address) && isUrl(url) ? parseUrl(url).hostname.slice(1, -1) : undefined
}
