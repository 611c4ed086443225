import type { Kind } from '../base/kinds.ts'

/** The longest name that model APIs accept. */
const MAX_NAME = 128
const MAX_PREFIX = 48
const PLAIN = /^[a-zA-Z0-9_-]+$/
/** The end of a name that had to be changed. Names that merely look like that are changed too, so none can be mistaken. */
const CHANGED = /[_-][0-9a-f]{10}$/

/** Other characters could occur in the middle of a name. */
export const SEPARATOR: Kind<string> = {
  must: '1 to 8 of the characters _ and -',
  is: (value) => typeof value === 'string' && /^[_-]{1,8}$/.test(value),
  repeats: true,
}

/** The item that a name stands for. */
export interface Named {
  readonly server: string
  /** The name of the item on its server; undefined if only a list of the server's items can tell. */
  readonly item: string | undefined
}

/**
 * Gives the items of several servers names that model APIs accept: letters, digits, `_` and `-`, at most 128. A name
 * begins with a prefix that no other server has, so that servers cannot take each other's names. It depends only on the
 * names of the servers and the item, and the other way round it means one item only.
 */
export class ModelNames {
  readonly separator: string
  /** The prefix of each server. */
  readonly prefixes: ReadonlyMap<string, string>
  readonly #servers: ReadonlyMap<string, string>

  constructor(servers: Iterable<string>, separator: string) {
    this.separator = separator
    this.prefixes = prefixesOf([...servers], separator)
    this.#servers = new Map([...this.prefixes].map(([server, prefix]) => [prefix, server]))
  }

  /** The name of an item. */
  nameOf(server: string, item: string): string {
    const start = this.startOf(server)
    const room = MAX_NAME - start.length
    if (item.length <= room && PLAIN.test(item) && !CHANGED.test(item)) return start + item
    return start + changed(item.slice(0, room).replace(/[^a-zA-Z0-9_-]/g, '_'), '_', room, item)
  }

  /** The beginning of the names of a server. */
  startOf(server: string): string {
    return `${this.prefixes.get(server)}${this.separator}`
  }

  /** The item with a name; undefined if no server has the prefix. */
  read(name: string): Named | undefined {
    const found = this.split(name)
    return found && { server: found.server, item: CHANGED.test(found.rest) ? undefined : found.rest }
  }

  /** The server with the prefix of a name, and the rest of the name; undefined if no server has the prefix. */
  split(name: string): { readonly server: string; readonly rest: string } | undefined {
    // No prefix contains the separator.
    const at = name.indexOf(this.separator)
    const server = at < 0 ? undefined : this.#servers.get(name.slice(0, at))
    return server === undefined ? undefined : { server, rest: name.slice(at + this.separator.length) }
  }
}

/** A server keeps its name where that can be a prefix. Of several whose changed names are the same, each gets a hash. */
function prefixesOf(servers: readonly string[], separator: string): ReadonlyMap<string, string> {
  const filler = separator.includes('-') ? '_' : '-'
  const simple = new Map(servers.map((server) => [server, simplified(server, separator, filler)]))
  const counts = new Map<string, number>()
  for (const prefix of simple.values()) counts.set(prefix, (counts.get(prefix) ?? 0) + 1)
  return new Map(
    [...simple].map(([server, prefix]) => {
      const isFree = prefix === server || counts.get(prefix) === 1
      return [server, isFree && !CHANGED.test(prefix) ? prefix : changed(prefix, filler, MAX_PREFIX, server)]
    }),
  )
}

function simplified(server: string, separator: string, filler: string): string {
  const isPrefix = (server + separator).indexOf(separator) === server.length
  if (isPrefix && PLAIN.test(server) && server.length <= MAX_PREFIX) return server
  const words = server.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '')
  return words.join(filler).slice(0, MAX_PREFIX).replace(/[_-]$/, '') || 'server'
}

/** Shortens a text and adds the hash of the original. */
function changed(text: string, joint: string, room: number, original: string): string {
  const hash = hashOf(original)
  let end = Math.min(text.length, room - joint.length - hash.length)
  // Together with the joint, the last character could be a separator. A pattern would take the square of their number.
  while (end > 0 && '_-'.includes(text[end - 1]!)) end--
  return text.slice(0, end) + joint + hash
}

/** Forty bits in hexadecimal. Whoever finds two texts with the same hash only confuses the names of one server. */
function hashOf(text: string): string {
  let [one, two] = [0x811c9dc5, 0x9e3779b9]
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    one = Math.imul(one ^ unit, 0x01000193)
    two = Math.imul(two ^ unit ^ (one >>> 15), 0x85ebca6b)
  }
  one ^= two >>> 13
  return ((one >>> 0) * 256 + (two >>> 24)).toString(16).padStart(10, '0')
}
