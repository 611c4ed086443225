import { isZod, type ZodSchema } from './merges.ts'
import {
  addPattern,
  markBig,
  markCased,
  markNormalized,
  markUnknown,
  markUrl,
  RATES,
  TextPlace,
  unknownPlace,
  type TextUse,
} from './text-place.ts'

/** The parts of a definition of zod that say what it does with texts. */
interface Def {
  readonly type?: string
  readonly check?: string
  readonly format?: unknown
  readonly pattern?: unknown
  readonly hostname?: unknown
  readonly protocol?: unknown
  readonly coerce?: unknown
  readonly checks?: readonly unknown[]
  readonly tx?: unknown
  readonly transform?: unknown
  readonly in?: unknown
  readonly out?: unknown
  readonly left?: unknown
  readonly right?: unknown
  readonly innerType?: unknown
  readonly element?: unknown
  readonly options?: readonly unknown[]
  readonly discriminator?: unknown
  readonly unionFallback?: unknown
  readonly values?: readonly unknown[]
  readonly items?: readonly unknown[]
  readonly rest?: unknown
  readonly shape?: Readonly<Record<string, unknown>>
  readonly catchall?: unknown
  readonly keyType?: unknown
  readonly valueType?: unknown
  readonly property?: string
  readonly schema?: unknown
}

/** The kinds that only look at a value, whatever it is. A number or a date that is made of a text takes no longer than to read it. */
const SCALARS: ReadonlySet<unknown> = new Set(
  'number boolean date literal enum null undefined void nan symbol any unknown never custom file transform'.split(
    ' ',
  ),
)
/** The kinds around another. */
const AROUND: ReadonlySet<unknown> = new Set(
  'optional nullable default prefault nonoptional readonly catch success exact_optional'.split(' '),
)
/** The checks that take no longer than to read the text, functions of the author aside. */
const CHECKS: ReadonlySet<unknown> = new Set(
  'min_length max_length length_equals min_size max_size size_equals less_than greater_than multiple_of number_format bigint_format mime_type custom describe meta'.split(
    ' ',
  ),
)
/** The formats that zod only matches a pattern for, or reads once. */
const FORMATS: ReadonlySet<unknown> = new Set(
  'regex lowercase uppercase includes starts_with ends_with email guid uuid nanoid cuid cuid2 ulid xid ksuid datetime date time duration ipv4 cidrv4 mac e164 base64 base64url'.split(
    ' ',
  ),
)
/** Those of them whose pattern zod has, but does not match. */
const UNMATCHED: ReadonlySet<unknown> = new Set(['includes', 'starts_with', 'ends_with', 'base64'])

/** The places of a schema of zod; undefined if somebody has wrapped it. */
export function zodTexts(root: unknown): TextPlace | undefined {
  const known = new Map<unknown, TextPlace>()
  return isZod(root) ? visit(root) : undefined

  function visit(schema: unknown): TextPlace {
    const seen = known.get(schema)
    if (seen !== undefined) return seen
    if (!isZod(schema)) return unknownPlace()
    const place = new TextPlace()
    known.set(schema, place)
    if (!read(schema, place)) place.here.push(unknownPlace())
    return place
  }

  /** False if the kind is unknown. */
  function read(schema: ZodSchema, place: TextPlace): boolean {
    const def = schema._zod.def as Def
    for (const { property, schema: inner, check } of checksOf(def))
      if (check === 'property') place.here.push(memberOf(property!, visit(inner)))
    const { type } = def
    if (type === 'string') return readText(schema, place.use)
    if (def.coerce === true && (type === 'number' || type === 'date')) place.use.charge(RATES.reading)
    if (SCALARS.has(type)) return true
    if (AROUND.has(type)) place.here.push(visit(def.innerType))
    else if (type === 'lazy') place.here.push(visit(schema._zod.innerType))
    else if (type === 'union') readUnion(def, place)
    else if (type === 'intersection') {
      place.all = 'intersection'
      place.here.push(visit(def.left), visit(def.right))
    } else if (type === 'array') {
      place.isList = true
      place.rest.push(visit(def.element))
    } else if (type === 'tuple' || type === 'object' || type === 'record') readMembers(def, place)
    else if (type === 'pipe') readPipe(def, place)
    else if (type === 'bigint') {
      // Each check may divide the integer, or write it into a message.
      const checks = checksOf(def).length
      if (def.coerce === true) markBig(place.use, 1 + checks)
      else if (checks > 0) place.use.bigs += checks
    } else if (type === 'template_literal') {
      const { pattern } = schema._zod as { readonly pattern?: unknown }
      if (pattern instanceof RegExp) addPattern(place.use, pattern)
    } else return false
    return true
  }

  function readMembers({ shape, items, catchall, rest, keyType, valueType }: Def, place: TextPlace): void {
    place.isList = items !== undefined
    for (const [name, each] of Object.entries(shape ?? items ?? {})) place.named.set(name, visit(each))
    for (const each of [catchall, rest, valueType]) if (isZod(each)) place.rest.push(visit(each))
    if (keyType !== undefined) place.names = visit(keyType)
  }

  function readUnion({ options, discriminator, unionFallback }: Def, place: TextPlace): void {
    const all = options!.map(visit)
    if (typeof discriminator !== 'string' || unionFallback === true) return void place.here.push(...all)
    place.choice = {
      name: discriminator,
      options: all.map((each, at) => [constantOf(options![at], discriminator), each] as const),
    }
  }

  function readPipe({ in: first, out, transform }: Def, place: TextPlace): void {
    const next = visit(out)
    place.all = 'pipe'
    place.here.push(visit(first), next)
    // `z.stringbool()` is a function, too, which maps the case of a text.
    if (transform !== undefined) place.use.charge(RATES.casing)
    if (transform !== undefined || endsInFunction(first)) place.after.push(next)
  }
}

/** The only value of a member that chooses an alternative; undefined if there are several, or the alternative is not just an object. */
function constantOf(option: unknown, name: string): unknown {
  const member = isZod(option) ? (option._zod.def as Def).shape?.[name] : undefined
  const { type, values } = isZod(member) ? (member._zod.def as Def) : {}
  return type === 'literal' && values?.length === 1 ? values[0] : undefined
}

function memberOf(name: string, member: TextPlace): TextPlace {
  const place = new TextPlace()
  place.named.set(name, member)
  return place
}

function checksOf({ checks }: Def): readonly Def[] {
  return (checks ?? []).flatMap((each) => (isZod(each) ? (each._zod.def as Def) : []))
}

/** Whether the result of a schema comes from a function of the author. */
function endsInFunction(schema: unknown): boolean {
  if (!isZod(schema)) return false
  const def = schema._zod.def as Def
  if (def.type === 'pipe') return def.transform !== undefined || endsInFunction(def.out)
  return def.type === 'transform' || (AROUND.has(def.type) && endsInFunction(def.innerType))
}

function readText(schema: ZodSchema, use: TextUse): boolean {
  const def = schema._zod.def as Def
  if (def.coerce === true) use.coerces = true
  if (def.check !== undefined) readCheck(schema, use)
  for (const each of def.checks ?? []) readCheck(each, use)
  return true
}

function readCheck(check: unknown, use: TextUse): void {
  if (!isZod(check)) {
    // A function of the author has no definition, or one that says so.
    if (typeof check !== 'function') markUnknown(use)
    return
  }
  const def = check._zod.def as Def
  if (CHECKS.has(def.check) || def.check === 'property') return
  if (def.check === 'overwrite') readOverwrite(def.tx, use)
  else if (def.check !== 'string_format') markUnknown(use)
  else readFormat(check, def, use)
}

function readFormat(check: ZodSchema, { format, pattern, hostname, protocol }: Def, use: TextUse): void {
  const { traits } = check._zod as { readonly traits?: ReadonlySet<string> }
  // The author of such a format has brought a pattern or a function.
  const isOwn = traits?.has('$ZodCustomStringFormat') === true
  if (format === 'url') {
    markUrl(use)
    for (const each of [hostname, protocol]) if (each instanceof RegExp) addPattern(use, each)
  } else if (!FORMATS.has(format) && !isOwn) markUnknown(use)
  else if (UNMATCHED.has(format)) use.charge(RATES.reading)
  else if (pattern instanceof RegExp && !UNMATCHED.has(format)) addPattern(use, pattern)
}

/** What functions that change texts make of it tells them apart: it has spaces, letters of both cases, and some that normalising changes. */
const SAMPLE = ' \u0130aA\u0301\u1e9b\u0323\ufdfaZ '

function readOverwrite(change: unknown, use: TextUse): void {
  let changed: unknown
  try {
    changed = (change as (text: string) => unknown)(SAMPLE)
  } catch {
    // A function that fails is the author's, but may normalise texts.
  }
  if (changed === SAMPLE.trim()) return use.charge(RATES.reading)
  if (changed === SAMPLE.toLowerCase() || changed === SAMPLE.toUpperCase()) markCased(use)
  else markNormalized(use)
}
