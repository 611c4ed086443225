import { kindOf, UNRESERVED } from './characters.ts'

interface Parts {
  readonly scheme: string
  /** The user, host and port; undefined if the URI has none. */
  readonly authority: string | undefined
  readonly path: string
  /** The query and the fragment. */
  readonly rest: string
}

/** The usual ports of the schemes whose hosts are names of computers. */
export const PORTS: ReadonlyMap<string, string> = new Map([
  ['http', '80'],
  ['https', '443'],
  ['ws', '80'],
  ['wss', '443'],
  ['ftp', '21'],
  ['file', ''],
])

/** What most URIs are like: nothing in them could be spelt in another way. */
const USUAL = /^(?!https?:|wss?:|ftp:|file:)[a-z][a-z0-9+-]*:(?:[\w~:-]|[/.](?!\.))*$/

/**
 * The usual spelling of a URI, by RFC 3986: a lower-case scheme, unreserved characters as they are, upper-case digits in triplets, and no
 * `.` segments. Hosts of `http`, `https`, `ws`, `wss`, `ftp` and `file` are in lower case, without the usual port. Other schemes often
 * have names in place of the host, so they stay as they are. It never resolves `..`, which templates reject, nor adds a path.
 */
export function usualSpelling(uri: string): string {
  if (USUAL.test(uri)) return uri
  const parts = split(uri)
  if (parts === undefined) return uri
  const { scheme, authority, rest } = parts
  const path = withoutDots(parts.path)
  if (authority === undefined) return `${scheme}:${path.startsWith('//') ? parts.path : path}${rest}`
  const port = PORTS.get(scheme)
  const host = port === undefined ? authority : usualHost(authority, port)
  return `${scheme}://${scheme === 'file' && host === 'localhost' ? '' : host}${path}${rest}`
}

/** The usual spelling of a template, whose expressions stay as they are. */
export function usualTemplate(text: string): string {
  const expressions: string[] = []
  const marked = text.replace(/\{([/?#]?)[^}]*\}/g, (expression, delimiter: string) => {
    const nth = expressions.push(expression)
    // What begins with a delimiter ends the host.
    return delimiter === '' ? `\0${nth}\0` : `${delimiter}\0\0${nth}\0`
  })
  return usualSpelling(marked).replace(
    /(?:[/?#]\0)?\0(\d+)\0/g,
    (_, nth: string) => expressions[Number(nth) - 1] ?? '',
  )
}

/** Whether two URIs are spellings of the same one. */
export function isSameUri(one: string, other: string): boolean {
  return withPath(usualSpelling(one)) === withPath(usualSpelling(other))
}

/** A URI with a host that names a computer has a path, at least `/`. */
function withPath(uri: string): string {
  return uri.replace(/^((?:https?|wss?|ftp|file):\/\/[^/?#]+)(?=$|[?#])/, '$1/')
}

function split(uri: string): Parts | undefined {
  const found = /^([a-z][a-z0-9+.-]*):(?:\/\/([^/?#]*))?([^?#]*)(.*)$/is.exec(withPlainTriplets(uri))
  if (found === null) return undefined
  const [, scheme = '', authority, path = '', rest = ''] = found
  return { scheme: lowered(scheme), authority, path, rest }
}

/** Decodes triplets of unreserved characters, and has upper-case digits in the others. */
function withPlainTriplets(uri: string): string {
  if (!uri.includes('%')) return uri
  return uri.replace(/%[0-9a-f]{2}/gi, (triplet) => {
    const code = Number.parseInt(triplet.slice(1), 16)
    return kindOf(code) === UNRESERVED ? String.fromCharCode(code) : triplet.toUpperCase()
  })
}

function withoutDots(path: string): string {
  if (!path.startsWith('/') || !path.includes('/.')) return path
  const kept = path.replace(/\/\.(?=\/)/g, '')
  return kept.endsWith('/.') ? kept.slice(0, -1) : kept
}

function usualHost(authority: string, port: string): string {
  const at = authority.lastIndexOf('@') + 1
  const host = lowered(authority.slice(at))
  const [, name = host, given = ''] = /^(.*?):(\d*)$/s.exec(host) ?? []
  const bare = name.endsWith('.') ? name.slice(0, -1) : name
  return `${authority.slice(0, at)}${bare}${given === '' || given === port ? '' : `:${given}`}`
}

function lowered(text: string): string {
  return /[A-Z]/.test(text) ? text.toLowerCase() : text
}
