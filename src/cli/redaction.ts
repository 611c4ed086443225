import { isUrl, parseUrl } from '../protocol/url.ts'

/** Names of options, variables, headers and members whose values are secrets. */
const SECRET: RegExp = /token|key|secret|passw|pwd|auth|credential|cookie|bearer|signature/i
/** Whether a name says that its value is a secret. */
export function isSecretName(name: string): boolean {
  return SECRET.test(name)
}

const HEADER = /^(?:-H|--?[Hh]eaders?)$/
const VARIABLE = /^(?:-e|--?env)$/i
/** A short beginning that looks like a name, with what follows it. */
const NAMED = /^(-{0,2}[\w.-]{1,100})\s*([=:])\s*/
const IN_TEXT = /\b[a-z][\w+.-]{0,20}:\/\/[^\s"'`<>]*/gi
const SCHEMES = /\b(bearer|basic|digest)\s+([^\s"',]+)/gi
/** What well-known tokens look like. */
const TOKEN =
  /\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|npm|xox[abeprs])[-_][\w-]{8,}|\beyJ[\w-]{8,}(?:\.[\w-]*){0,4}/g
/** Values of variables that tell nothing. */
const PUBLIC =
  /^(?:auto|default|development|disabled?|enabled?|localhost|notice|production|require|silent|staging|testing|trace|verbose|warning|(?:C|[a-z]{2}_[A-Z]{2})\.UTF-8)$/i
const HIDDEN = '***'
/** The deepest JSON in an argument that is shown. */
const DEEPEST = 20

/** Takes a value that may be a secret, and returns what is shown instead. */
type Hide = (value: string) => string

const hidden: Hide = () => HIDDEN

/** The values in an entry, or in a command line or URL, that are hidden when it is shown. */
export function hiddenValues(entry: object): readonly string[] {
  const found: string[] = []
  redactedEntry(entry, (value) => {
    if (value !== '') found.push(value)
    return HIDDEN
  })
  return found
}

/** The values in a URL that are hidden, in each way in which a server may repeat them. */
export function hiddenInUrl(url: string): readonly string[] {
  const ways = isUrl(url) ? [url, parseUrl(url).href] : [url]
  return ways.flatMap((one) => hiddenValues({ url: one }).flatMap(withDecoded))
}

/** The values of variables that are hidden, and the passwords and tokens in them. Values that tell nothing are shown, unless a name says that they are secrets. */
export function hiddenVariables(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const all = [value, ...hiddenValues({ value }).flatMap(withDecoded)]
    return SECRET.test(name) ? all : all.filter((one) => !PUBLIC.test(one))
  })
}

/** A part of a URL, and what a server reads there. */
function withDecoded(part: string): readonly string[] {
  try {
    return [part, decodeURIComponent(part.replaceAll('+', ' '))]
  } catch {
    return [part]
  }
}

/** A URL without what may be a secret: its user and password, the values of its query, and its fragment. */
export function redactedUrl(text: string, hide: Hide = hidden): string {
  const [before, fragment] = halves(text, '#')
  const [address, query] = halves(before, '?')
  const shown = query?.split('&').map((part) => {
    const [name, value] = halves(part, '=')
    return part === '' ? '' : value === undefined ? hide(part) : `${name}=${hide(value)}`
  })
  return [
    withoutUser(address, hide),
    shown === undefined ? '' : `?${shown.join('&')}`,
    fragment === undefined ? '' : `#${fragment === '' ? '' : hide(fragment)}`,
  ].join('')
}

function withoutUser(address: string, hide: Hide): string {
  const start = address.indexOf('//')
  if (start < 0) return address
  const without = (at: number): string => {
    const user = address.slice(start + 2, at)
    const [name, password = name] = halves(user, ':')
    hide(password)
    return `${address.slice(0, start)}//${hide(user)}@${address.slice(at + 1)}`
  }
  const slash = address.slice(start + 2).search(/[\\/]/)
  const end = slash < 0 ? address.length : start + 2 + slash
  // A password may have @ in it.
  const at = address.lastIndexOf('@', end)
  if (at > start) return without(at)
  // A password with a slash makes a URL that is not valid, but it is a password.
  const last = address.lastIndexOf('@')
  return last > 0 && !isUrl(address) ? without(last) : address
}

/** What is before and after the first occurrence of a mark. */
function halves(text: string, mark: string): readonly [string, string | undefined] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** An entry of a configuration without the values that may be secrets: those of variables and headers, of URLs, and of arguments that look like it. */
export function redactedEntry(value: unknown, hide: Hide = hidden): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return HIDDEN
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => {
      if (name === 'args' && Array.isArray(member)) return [name, redactedArgs(member, hide)]
      if (typeof member === 'string') return [name, redactedMember(name, member, hide)]
      if (typeof member === 'object' && member !== null && !Array.isArray(member))
        return [
          name,
          Object.fromEntries(Object.keys(member).map((key) => [key, redactedValue(member, key, hide)])),
        ]
      return [name, typeof member === 'object' ? HIDDEN : member]
    }),
  )
}

function redactedMember(name: string, text: string, hide: Hide): string {
  if (/url$/i.test(name)) return redactedUrl(text, hide)
  if (name === 'command') return redactedLine(text, hide)
  return SECRET.test(name) ? hide(text) : redactedText(text, hide)
}

/** Names of variables are not secrets. */
function redactedValue(members: object, name: string, hide: Hide): string {
  const value = (members as Readonly<Record<string, unknown>>)[name]
  if (typeof value !== 'string') return HIDDEN
  return isReference(value) ? value : hide(value)
}

/** Whether a text only names a variable. */
export function isReference(text: string): boolean {
  return /^\$\{(?:env:)?\w+\}$/.test(text)
}

/** Arguments without those that look like secrets. */
function redactedArgs(args: readonly unknown[], hide: Hide): readonly unknown[] {
  return args.map((arg, i) => {
    const before: unknown = args[i - 1]
    if (typeof arg !== 'string') return HIDDEN
    return redactedArg(arg, typeof before === 'string' ? before : '', hide)
  })
}

function redactedArg(arg: string, before: string, hide: Hide): string {
  const [whole = '', name = '', mark = ''] = NAMED.exec(arg) ?? []
  const value = arg.slice(whole.length)
  if (HEADER.test(before) || VARIABLE.test(before))
    return name === '' ? hide(arg) : `${name}${mark}${hide(value)}`
  if (/^--?[\w-]+$/.test(before) && SECRET.test(before)) return hide(arg)
  if (/^-H./.test(arg)) return `-H${hide(arg.slice(2).replace(NAMED, ''))}`
  if (whole !== '' && value !== '') {
    if (SECRET.test(name) || HEADER.test(name) || VARIABLE.test(name))
      return `${name}${mark}${hide(isPair(name) ? value.replace(NAMED, '') : value)}`
    if (/^[[{]/.test(value)) return `${name}${mark}${redactedJson(value, hide)}`
  }
  return /^\s*[[{]/.test(arg) ? redactedJson(arg, hide) : redactedText(arg, hide)
}

/** Whether the value of an option is a name and a value itself. */
function isPair(name: string): boolean {
  return HEADER.test(name) || VARIABLE.test(name)
}

/** A whole command line in one text. After the first word that announces a secret, nothing is shown. */
export function redactedLine(text: string, hide: Hide = hidden): string {
  const words = text.trim().split(/\s+/)
  if (words.length < 2) return redactedText(text, hide)
  const at = words.findIndex(
    (word) => HEADER.test(word) || VARIABLE.test(word) || SECRET.test(word) || /[[{]/.test(word),
  )
  const isFlag = /^--?[A-Za-z][\w-]*$/.test(words[at] ?? '')
  const end = at < 0 ? words.length : isFlag ? at + 1 : at
  const shown = redactedArgs(words.slice(0, end), hide)
  return [...shown, ...(at < 0 ? [] : [hide(words.slice(end).join(' '))])].join(' ')
}

/** Any text without the URLs, tokens and credentials that are easy to see in it. */
function redactedText(text: string, hide: Hide): string {
  return text
    .replaceAll(IN_TEXT, (url) => redactedUrl(url, hide))
    .replaceAll(SCHEMES, (whole: string, scheme: string, value: string) => {
      // The scheme says how to decode it.
      hide(whole)
      return `${scheme} ${hide(value)}`
    })
    .replaceAll(TOKEN, (token) => hide(token))
}

function redactedJson(text: string, hide: Hide): string {
  try {
    return JSON.stringify(redactedData(JSON.parse(text), 0, hide))
  } catch {
    return hide(text)
  }
}

function redactedData(value: unknown, depth: number, hide: Hide): unknown {
  if (typeof value === 'string') return redactedText(value, hide)
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEEPEST) return HIDDEN
  if (Array.isArray(value)) return value.map((one: unknown) => redactedData(one, depth + 1, hide))
  const isSecret = (name: string): boolean => SECRET.test(name) || /^(?:env|headers)$/i.test(name)
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => [
      name,
      isSecret(name) ? hideAll(member, depth, hide) : redactedData(member, depth + 1, hide),
    ]),
  )
}

/** Hides every text in a value. */
function hideAll(value: unknown, depth: number, hide: Hide): string {
  if (typeof value === 'string' || typeof value === 'number') hide(String(value))
  else if (typeof value === 'object' && value !== null && depth <= DEEPEST)
    for (const member of Object.values(value)) hideAll(member, depth + 1, hide)
  return HIDDEN
}
