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

/**
 * A key that URIs share if handlers might take them for the same, also by way of `new URL`: all triplets are decoded, `..` is resolved,
 * the host has its usual form for every scheme, and neither control characters, spaces around a step, invisible characters nor slashes at
 * the end or next to each other count. If `isBare`, neither do user, port, query and fragment.
 */
export function looseSpelling(uri: string, isBare = false): string {
  const plain = withPlainCharacters(decodedFully(uri)).trim()
  // A template whose scheme is a variable has a private character in its place.
  const found = /^([a-z\p{Co}][a-z0-9+.\-\p{Co}]*):(.*)$/isu.exec(plain)
  if (found === null) return plain
  const [, scheme = '', all = ''] = found
  return `${scheme.toLowerCase()}:${looseSteps(scheme.toLowerCase(), all, isBare).join('/')}`
}

function looseSteps(scheme: string, all: string, isBare: boolean): string[] {
  const port = PORTS.get(scheme)
  // Hosts of the web need no slashes before them.
  const root = (port ?? '') !== '' || /^[\\/]{2}[^\\/]/.test(all) ? 1 : 0
  const steps: string[] = []
  for (const each of (isBare ? all.replace(/[?#].*$/s, '') : all).split(/[\\/]/)) {
    const step = each.trim()
    if (step === '..') steps.splice(Math.max(root, steps.length - 1))
    else if (step !== '' && step !== '.')
      steps.push(steps.length === 0 ? looseHost(step, port, isBare) : step)
  }
  return scheme === 'file' && steps[0] === 'localhost' ? steps.slice(1) : steps
}

/** The usual form of the first step, which might be a host. */
function looseHost(step: string, usualPort: string | undefined, isBare: boolean): string {
  const at = step.lastIndexOf('@') + 1
  // A drive may end in `|` in place of the colon.
  const host = step
    .slice(at)
    .toLowerCase()
    .replace(/^([a-z])\|$/, '$1:')
  const port = /:\d*$/.exec(host)?.[0] ?? ''
  const name = host.slice(0, host.length - port.length).replace(/\.$/, '')
  if (isBare) return urlHost(name)
  const isUsual = port.length < 2 || (usualPort !== undefined && Number(port.slice(1)) === Number(usualPort))
  return `${step.slice(0, at)}${urlHost(name)}${isUsual ? '' : `:${Number(port.slice(1))}`}`
}

/** The host as a URL would have it: names in ASCII, numbers as addresses. */
function urlHost(name: string): string {
  const url = `http://${name}/`
  return /[?#@]|:(?!.*\])/s.test(name) || !isUrl(url) ? name : parseUrl(url).hostname
}

/** Replaces characters by those that hosts and file systems take for the same, one by one: whole texts could take long. */
function withPlainCharacters(text: string): string {
  if (/^\p{ASCII}*$/u.test(text)) return text
  return text
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/\P{ASCII}/gu, (char) => char.normalize('NFKD'))
    .replaceAll('\u3002', '.')
}
