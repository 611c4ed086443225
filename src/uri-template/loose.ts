import { isUrl, parseUrl } from '../protocol/url.ts'
import { PORTS } from './spelling.ts'

/** How often a text may have been encoded: the server decodes it, then perhaps the handler, and then a URL or what it leads to. */
const TIMES = 3

// oxlint-disable-next-line no-control-regex -- parsers of URLs remove some of these, and nobody needs them in a URI
const CONTROLS = /[\0-\x1f]/g

/** A text with all its triplets decoded, even those that were encoded several times, and without control characters. */
export function decodedFully(text: string): string {
  let plain = text
  for (let times = 0; times < TIMES && plain.includes('%'); times++)
    plain = plain.replace(/(?:%[0-9a-f]{2})+/gi, decodeRun).replace(CONTROLS, '')
  return plain.replace(CONTROLS, '')
}

function decodeRun(run: string): string {
  try {
    return decodeURIComponent(run)
  } catch {
    return run.replace(/%[0-7][0-9a-f]/gi, (triplet) =>
      String.fromCharCode(Number.parseInt(triplet.slice(1), 16)),
    )
  }
}

/** What of a URI does not count, besides the user: many handlers ignore it. */
export const NOTHING = 0
export const PORT = 1
/** The query and the fragment. */
export const REST = 2

/**
 * A key that URIs share if handlers might take them for the same, also by way of `new URL`: all triplets are decoded, `..` is resolved,
 * the host has its usual form for every scheme, and neither a user, control characters, spaces around a step, invisible characters nor
 * slashes at the end or next to each other count.
 */
export function looseSpelling(uri: string, without: number = NOTHING): string {
  return spellLoosely(toPlain(uri), without)
}

/** The loose spellings of one URI. Each is made once, when it is needed. */
export class LooseUri {
  /** The number of characters of the URI. */
  readonly length: number
  readonly #uri: string
  readonly #spellings = new Map<number, string>()
  #known: { readonly plain: string; readonly has: number } | undefined

  constructor(uri: string) {
    this.#uri = uri
    this.length = uri.length
  }

  spelling(without: number): string {
    const { plain, has } = this.#read()
    const key = without & has
    let spelling = this.#spellings.get(key)
    if (spelling === undefined) this.#spellings.set(key, (spelling = spellLoosely(plain, key)))
    return spelling
  }

  /** All spellings, each without something else. */
  get all(): ReadonlySet<string> {
    return new Set([NOTHING, PORT, REST, PORT | REST].map((without) => this.spelling(without)))
  }

  /** The number of steps that no spelling has. */
  get emptySteps(): number {
    return countEmptySteps(this.#read().plain)
  }

  /** The URI with plain characters, and what there is in it that may not count. */
  #read(): { readonly plain: string; readonly has: number } {
    if (this.#known !== undefined) return this.#known
    const plain = toPlain(this.#uri)
    const afterScheme = plain.slice(plain.indexOf(':') + 1)
    const has = (afterScheme.includes(':') ? PORT : 0) | (/[?#]/.test(afterScheme) ? REST : 0)
    return (this.#known = { plain, has })
  }
}

/** The number of steps of a path that loose spellings leave out because there is nothing in them. A slash at the end is usual. */
export function countEmptySteps(text: string): number {
  const steps = text.replace(/^[^\\/]*[\\/]{2}/, '').split(/[\\/]/)
  // A host may be nothing but a user and a port.
  const host = (steps[0] ?? '').replace(/^.*@/s, '').replace(/:\d*$/, '')
  return [host, ...steps.slice(1)].slice(0, -1).filter((step) => isEmpty(step.trim())).length
}

function isEmpty(step: string): boolean {
  return step === '' || step === '.'
}

function toPlain(uri: string): string {
  return withPlainCharacters(decodedFully(uri)).trim()
}

function spellLoosely(plain: string, without: number): string {
  // A template whose scheme is a variable has a private character in its place.
  const found = /^([a-z\p{Co}][a-z0-9+.\-\p{Co}]*):(.*)$/isu.exec(plain)
  if (found === null) return plain
  const [, scheme = '', all = ''] = found
  return `${scheme.toLowerCase()}:${looseSteps(scheme.toLowerCase(), all, without).join('/')}`
}

/** A loose spelling with a slash before each step, also the first. */
export function withFirstSlash(spelling: string): string {
  return spelling.replace(/^([^:/]*:)(?=.)/s, '$1/')
}

function looseSteps(scheme: string, all: string, without: number): string[] {
  const usualPort = PORTS.get(scheme)
  // Hosts of the web need no slashes before them.
  const root = (usualPort ?? '') !== '' || /^[\\/]{2}[^\\/]/.test(all) ? 1 : 0
  const hasPort = (without & PORT) === 0
  const hasRest = (without & REST) === 0
  const steps: string[] = []
  for (const each of (hasRest ? all : all.replace(/[?#].*$/s, '')).split(/[\\/]/)) {
    const step = each.trim()
    if (step === '..') steps.splice(Math.max(root, steps.length - 1))
    else if (!isEmpty(step)) steps.push(steps.length === 0 ? looseHost(step, usualPort, hasPort) : step)
  }
  return scheme === 'file' && steps[0] === 'localhost' ? steps.slice(1) : steps
}

/** The usual form of the first step, which might be a host, perhaps with what comes behind it at once. */
function looseHost(step: string, usualPort: string | undefined, hasPort: boolean): string {
  const [, authority = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(step) ?? []
  // A drive may end in `|` in place of the colon.
  const host = authority
    .slice(authority.lastIndexOf('@') + 1)
    .toLowerCase()
    .replace(/^([a-z])\|$/, '$1:')
  const port = /:\d*$/.exec(host)?.[0] ?? ''
  const name = host.slice(0, host.length - port.length).replace(/\.$/, '')
  const isUsual = port.length < 2 || (usualPort !== undefined && Number(port.slice(1)) === Number(usualPort))
  return `${urlHost(name)}${isUsual || !hasPort ? '' : `:${Number(port.slice(1))}`}${rest}`
}

/** The host as a URL would have it: names in ASCII, numbers as addresses. */
function urlHost(name: string): string {
  const url = `http://${name}/`
  // A colon counts only within the brackets of an address.
  const hasColon = name.lastIndexOf(':') > name.lastIndexOf(']')
  return hasColon || /[?#@]/.test(name) || !isUrl(url) ? name : parseUrl(url).hostname
}

/** Replaces characters by those that hosts and file systems take for the same, one by one: whole texts could take long. */
function withPlainCharacters(text: string): string {
  if (/^\p{ASCII}*$/u.test(text)) return text
  return text
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/\P{ASCII}/gu, (char) => char.normalize('NFKD'))
    .replaceAll('\u3002', '.')
}
