import { isUrl } from '../protocol/url.ts'

/** Names of options, variables, headers and members whose values are secrets. */
export const SECRET: RegExp = /token|key|secret|passw|pwd|auth|credential|cookie|bearer|signature/i
const HEADER = /^(?:-H|--?[Hh]eaders?)$/
const VARIABLE = /^(?:-e|--?env)$/i
/** A short beginning that looks like a name, with what follows it. */
const NAMED = /^(-{0,2}[\w.-]{1,100})\s*([=:])\s*/
const IN_TEXT = /\b[a-z][\w+.-]{0,20}:\/\/[^\s"'`<>]*/gi
const SCHEMES = /\b(bearer|basic|digest)\s+[^\s"',]+/gi
/** What well-known tokens look like. */
const TOKEN =
  /\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|npm|xox[abeprs])[-_][\w-]{8,}|\beyJ[\w-]{8,}(?:\.[\w-]*){0,4}/g
const HIDDEN = '***'
/** The deepest JSON in an argument that is shown. */
const DEEPEST = 20

/** A URL without what may be a secret: its user and password, the values of its query, and its fragment. */
export function redactedUrl(text: string): string {
  const [before, fragment] = halves(text, '#')
  const [address, query] = halves(before, '?')
  const shown = query?.split('&').map((part) => {
    const [name, value] = halves(part, '=')
    return part === '' ? '' : value === undefined ? HIDDEN : `${name}=${HIDDEN}`
  })
  return [
    withoutUser(address),
    shown === undefined ? '' : `?${shown.join('&')}`,
    fragment === undefined ? '' : `#${fragment === '' ? '' : HIDDEN}`,
  ].join('')
}

function withoutUser(address: string): string {
  const start = address.indexOf('//')
  if (start < 0) return address
  const slash = address.slice(start + 2).search(/[\\/]/)
  const end = slash < 0 ? address.length : start + 2 + slash
  // A password may have @ in it.
  const at = address.lastIndexOf('@', end)
  if (at > start) return `${address.slice(0, start)}//${HIDDEN}@${address.slice(at + 1)}`
  // A password with a slash makes a URL that is not valid, but it is a password.
  const last = address.lastIndexOf('@')
  return last > 0 && !isUrl(address)
    ? `${address.slice(0, start)}//${HIDDEN}@${address.slice(last + 1)}`
    : address
}

/** What is before and after the first occurrence of a mark. */
function halves(text: string, mark: string): readonly [string, string | undefined] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** An entry of a configuration without the values that may be secrets: those of variables and headers, of URLs, and of arguments that look like it. */
export function redactedEntry(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return HIDDEN
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => {
      if (name === 'args' && Array.isArray(member)) return [name, redactedArgs(member)]
      if (typeof member === 'string') return [name, redactedMember(name, member)]
      if (typeof member === 'object' && member !== null && !Array.isArray(member))
        return [name, Object.fromEntries(Object.keys(member).map((key) => [key, redactedValue(member, key)]))]
      return [name, typeof member === 'object' ? HIDDEN : member]
    }),
  )
}

function redactedMember(name: string, text: string): string {
  if (/url$/i.test(name)) return redactedUrl(text)
  if (name === 'command') return redactedLine(text)
  return SECRET.test(name) ? HIDDEN : redactedText(text)
}

/** Names of variables are not secrets. */
function redactedValue(members: object, name: string): string {
  const value = (members as Readonly<Record<string, unknown>>)[name]
  return typeof value === 'string' && isReference(value) ? value : HIDDEN
}

/** Whether a text only names a variable. */
export function isReference(text: string): boolean {
  return /^\$\{(?:env:)?\w+\}$/.test(text)
}

/** Arguments without those that look like secrets. */
function redactedArgs(args: readonly unknown[]): readonly unknown[] {
  return args.map((arg, i) => {
    const before: unknown = args[i - 1]
    if (typeof arg !== 'string') return HIDDEN
    return redactedArg(arg, typeof before === 'string' ? before : '')
  })
}

function redactedArg(arg: string, before: string): string {
  const [whole = '', name = '', mark = ''] = NAMED.exec(arg) ?? []
  if (HEADER.test(before) || VARIABLE.test(before)) return name === '' ? HIDDEN : `${name}${mark}${HIDDEN}`
  if (/^--?[\w-]+$/.test(before) && SECRET.test(before)) return HIDDEN
  if (/^-H./.test(arg)) return `-H${HIDDEN}`
  const value = arg.slice(whole.length)
  if (whole !== '' && value !== '') {
    if (SECRET.test(name) || HEADER.test(name) || VARIABLE.test(name)) return `${name}${mark}${HIDDEN}`
    if (/^[[{]/.test(value)) return `${name}${mark}${redactedJson(value)}`
  }
  return /^\s*[[{]/.test(arg) ? redactedJson(arg) : redactedText(arg)
}

/** A whole command line in one text. After the first word that announces a secret, nothing is shown. */
export function redactedLine(text: string): string {
  const words = text.trim().split(/\s+/)
  if (words.length < 2) return redactedText(text)
  const at = words.findIndex(
    (word) => HEADER.test(word) || VARIABLE.test(word) || SECRET.test(word) || /[[{]/.test(word),
  )
  const isFlag = /^--?[A-Za-z][\w-]*$/.test(words[at] ?? '')
  const shown = at < 0 ? words : words.slice(0, isFlag ? at + 1 : at)
  return [...redactedArgs(shown), ...(at < 0 ? [] : [HIDDEN])].join(' ')
}

/** Any text without the URLs, tokens and credentials that are easy to see in it. */
function redactedText(text: string): string {
  return text
    .replaceAll(IN_TEXT, (url) => redactedUrl(url))
    .replaceAll(SCHEMES, `$1 ${HIDDEN}`)
    .replaceAll(TOKEN, HIDDEN)
}

function redactedJson(text: string): string {
  try {
    return JSON.stringify(redactedData(JSON.parse(text), 0))
  } catch {
    return HIDDEN
  }
}

function redactedData(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactedText(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEEPEST) return HIDDEN
  if (Array.isArray(value)) return value.map((one: unknown) => redactedData(one, depth + 1))
  const isSecret = (name: string): boolean => SECRET.test(name) || /^(?:env|headers)$/i.test(name)
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => [
      name,
      isSecret(name) ? HIDDEN : redactedData(member, depth + 1),
    ]),
  )
}
