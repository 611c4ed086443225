import { isObject } from './keywords.ts'
import {
  addPattern,
  markCased,
  markNormalized,
  markUnknown,
  markUrl,
  RATES,
  TextPlace,
  unknownPlace,
  type TextUse,
} from './text-place.ts'

/** A node of arktype. */
interface Node {
  readonly kind: string
  readonly inner: Readonly<Record<string, unknown>>
  readonly resolution?: unknown
  readonly references?: readonly unknown[]
}

interface Scope {
  readonly resolutions?: Readonly<Record<string, unknown>>
  parse(definition: string): unknown
}

/** The parts of an intersection that take no longer than to read the text. */
const PLAIN: ReadonlySet<string> = new Set(
  'domain proto divisor min max minLength maxLength exactLength before after'.split(' '),
)

/** The keywords whose functions take no longer than to read the text. */
const LINEAR: ReadonlySet<string> = new Set(
  'trim capitalize numeric.parse integer.parse date date.parse date.iso date.iso.parse date.epoch date.epoch.parse'.split(
    ' ',
  ),
)
/** Those that do more, if the scope does not list them. */
const KEYWORDS =
  'url url.parse json json.parse regex creditCard lower upper normalize normalize.NFC normalize.NFD normalize.NFKC normalize.NFKD'.split(
    ' ',
  )

type Mark = (use: TextUse) => void

/** The places of a schema of arktype; undefined if it does not show its parts. */
export function arktypeTexts(schema: unknown): TextPlace | undefined {
  const { internal, $: scope } = schema as { readonly internal?: unknown; readonly $?: Scope }
  return isNode(internal) && scope !== undefined ? new Reader(functionsOf(scope)).visit(internal) : undefined
}

/** The functions of the keywords of arktype. */
interface Functions {
  /** How each treats a text. */
  readonly marks: ReadonlyMap<unknown, Mark>
  /** Those that parse JSON. */
  readonly parsers: ReadonlySet<unknown>
}

class Reader {
  readonly #known = new Map<unknown, TextPlace>()
  readonly #functions: Functions

  constructor(functions: Functions) {
    this.#functions = functions
  }

  visit(node: unknown): TextPlace {
    const seen = this.#known.get(node)
    if (seen !== undefined) return seen
    const place = new TextPlace()
    this.#known.set(node, place)
    if (!isNode(node) || !this.#read(node, place)) place.here.push(unknownPlace())
    return place
  }

  /** False if the kind is unknown. */
  #read(node: Node, place: TextPlace): boolean {
    const { kind, inner } = node
    if (kind === 'domain' || kind === 'unit' || kind === 'proto') return true
    if (kind === 'alias') place.here.push(this.visit(node.resolution))
    else if (kind === 'union') place.here.push(...listIn(inner, 'branches').map((each) => this.visit(each)))
    else if (kind === 'morph') this.#readMorph(inner, place)
    else if (kind === 'intersection')
      return Object.keys(inner).every((key) => this.#readRefinement(key, inner[key], place))
    else return false
    return true
  }

  #readRefinement(key: string, value: unknown, place: TextPlace): boolean {
    if (PLAIN.has(key)) return true
    const nodes = (Array.isArray(value) ? value : [value]) as readonly Node[]
    for (const { inner } of nodes) {
      if (key === 'pattern')
        addPattern(place.use, {
          source: String(inner['rule']),
          flags: typeof inner['flags'] === 'string' ? inner['flags'] : '',
        })
      else if (key === 'predicate') this.#functions.marks.get(inner['predicate'])?.(place.use)
      else if (key === 'structure') this.#readStructure(inner, place)
      else return false
    }
    return true
  }

  #readStructure(inner: Node['inner'], place: TextPlace): void {
    for (const { inner: member } of [...listIn(inner, 'required'), ...listIn(inner, 'optional')])
      place.named.set(String(member['key']), this.visit(member['value']))
    place.width = place.named.size
    for (const { inner: index } of listIn(inner, 'index')) {
      const all = new TextPlace()
      all.names = this.visit(index['signature'])
      all.rest.push(this.visit(index['value']))
      place.here.push(all)
    }
    const { sequence } = inner
    if (isNode(sequence)) place.here.push(this.#toItems(sequence))
  }

  #toItems({ inner }: Node): TextPlace {
    const place = new TextPlace()
    place.isList = true
    const first = [
      ...listIn(inner, 'prefix'),
      ...listIn(inner, 'defaultables'),
      ...listIn(inner, 'optionals'),
    ]
    for (const [at, each] of first.entries())
      place.named.set(String(at), this.visit(Array.isArray(each) ? each[0] : each))
    for (const each of [inner['variadic'], ...listIn(inner, 'postfix')])
      if (each !== undefined) place.rest.push(this.visit(each))
    return place
  }

  #readMorph(inner: Node['inner'], first: TextPlace): void {
    let at = first
    let isFunction = false
    at.all = 'pipe'
    at.here.push(this.visit(inner['in']))
    for (const morph of listIn(inner, 'morphs')) {
      const mark = this.#functions.marks.get(morph)
      if (isNode(morph)) {
        const next = this.visit(morph)
        at.here.push(next)
        if (isFunction) at.after.push(next)
      } else if (this.#functions.parsers.has(morph)) {
        at.use.short = true
        at.use.charge(RATES.parsing)
        at = at.json = new TextPlace()
        isFunction = false
      } else if (mark === undefined) isFunction = true
      else mark(at.use)
    }
  }
}

/** The functions of the keywords of arktype, and what they do with texts. All others are the author's. */
function functionsOf(scope: Scope): Functions {
  const marks = new Map<unknown, Mark>()
  const parsers = new Set<unknown>()
  const names = Object.keys(scope.resolutions ?? {}).filter((name) => name.startsWith('string.'))
  const all = new Set([...LINEAR, ...KEYWORDS, ...names.map((name) => name.slice(7).replace(/\.?root$/, ''))])
  for (const name of all)
    for (const each of functionsIn(scope, name)) {
      marks.set(each, markOf(name))
      if (name === 'json.parse') parsers.add(each)
    }
  return { marks, parsers }
}

function markOf(name: string): Mark {
  if (LINEAR.has(name)) return (use) => use.charge(RATES.reading)
  if (/^url\b/.test(name)) return markUrl
  if (/^normalize\b/.test(name)) return markNormalized
  return /^(?:lower|upper)$/.test(name) ? markCased : markUnknown
}

function functionsIn(scope: Scope, name: string): readonly unknown[] {
  if (name === '') return []
  try {
    const { internal } = scope.parse(`string.${name}`) as { readonly internal?: Node }
    const nodes = [...((internal?.references ?? []) as readonly Node[])].filter(isNode)
    return nodes.flatMap(({ kind, inner }) =>
      kind === 'predicate'
        ? inner['predicate']
        : kind === 'morph'
          ? listIn(inner, 'morphs').filter((each) => !isNode(each))
          : [],
    )
  } catch {
    return []
  }
}

function listIn(inner: Node['inner'], key: string): readonly Node[] {
  const list = inner[key]
  return Array.isArray(list) ? (list as readonly Node[]) : []
}

function isNode(value: unknown): value is Node {
  const { kind, inner } = (value ?? {}) as { readonly kind?: unknown; readonly inner?: unknown }
  return typeof kind === 'string' && isObject(inner)
}
