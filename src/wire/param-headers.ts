import { isObject } from '../protocol/jsonrpc.ts'
import { KEYWORDS } from '../schema/keywords.ts'
import { encodeHeaderValue } from './header-value.ts'
import { checkValue, decodeHeaderValue, type HeaderLookup, type HeaderProblem } from './headers.ts'

/** A tool argument that clients repeat in a header at 2026-07-28. */
export interface ParamHeader {
  /** The path from the arguments to the value, one property per step. */
  readonly path: readonly string[]
  /** `Mcp-Param-` and the annotated name, as sent. */
  readonly header: string
  /** The same in lower case, for lookups. */
  readonly lookup: string
  readonly type: 'string' | 'integer' | 'boolean'
}

const ANNOTATION = 'x-mcp-header'
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
const MAX_DEPTH = 64
const MAX_NAME = 256
const MAX_PARTS = 50_000

/** The arguments that an input schema marks with `x-mcp-header`, or what is wrong with the annotation. */
export function paramHeadersOf(inputSchema: unknown): readonly ParamHeader[] | { readonly problem: string } {
  const found: ParamHeader[] = []
  const taken = new Set<string>()
  /** The way to the schema being read. It is copied only for an annotation: a schema may have very many parts, all of them deep. */
  const path: string[] = []
  let parts = 0
  const problem = visit(inputSchema, true)
  return problem === undefined ? found : { problem }

  function visit(schema: unknown, reachable: boolean): string | undefined {
    if (++parts > MAX_PARTS) return `the schema has more than ${MAX_PARTS} parts`
    if (!isObject(schema)) return undefined
    if (path.length > MAX_DEPTH) return `the schema is nested deeper than ${MAX_DEPTH} levels`
    const fault = Object.hasOwn(schema, ANNOTATION) && collect(schema, reachable)
    if (fault) return `${ANNOTATION} at ${path.join('.') || 'the root'} ${fault}`
    for (const keyword of Object.keys(schema)) {
      const inner = schema[keyword]
      const shape = keyword === 'contentSchema' ? 'schema' : KEYWORDS.get(keyword)?.shape
      const isNamed = (shape === 'named' || shape === 'either') && isObject(inner)
      if (!isNamed && !shape?.startsWith('schema')) continue
      const isProperties = keyword === 'properties'
      if (!isProperties) path.push(keyword)
      // Only the names are read at once: a server chooses how many there are.
      const all = (isNamed ? inner : [inner].flat()) as Schema
      for (const name of Object.keys(all)) {
        if (isNamed) path.push(name)
        const inside = visit(all[name], reachable && isProperties)
        if (inside !== undefined) return inside
        if (isNamed) path.pop()
      }
      if (!isProperties) path.pop()
    }
    return undefined
  }

  function collect(schema: Schema, reachable: boolean): string | undefined {
    const name = schema[ANNOTATION]
    const type = schema['type']
    if (!reachable || path.length === 0)
      return 'must be on a property that is reachable through "properties" alone'
    if (typeof name !== 'string' || !TOKEN.test(name))
      return 'must be a header name: letters, digits and dashes'
    if (name.length > MAX_NAME) return `must be a header name of at most ${MAX_NAME} characters`
    if (!isType(type)) return 'needs "type": "string", "integer" or "boolean" on its property'
    const lookup = `mcp-param-${name.toLowerCase()}`
    if (taken.has(lookup)) return `repeats the name "${name}"; names must differ in more than case`
    taken.add(lookup)
    found.push({ path: [...path], header: `Mcp-Param-${name}`, lookup, type })
    return undefined
  }
}

type Schema = Readonly<Record<string, unknown>>

function isType(value: unknown): value is ParamHeader['type'] {
  return value === 'string' || value === 'integer' || value === 'boolean'
}

/** Compares the `Mcp-Param-` headers of a call with its arguments. */
export function checkParamHeaders(
  params: readonly ParamHeader[],
  args: unknown,
  header: HeaderLookup,
): HeaderProblem | undefined {
  for (const param of params) {
    const problem = checkParam(param.header, header(param.lookup), valueAt(args, param.path))
    if (problem !== undefined) return problem
  }
  return undefined
}

function checkParam(header: string, given: string | undefined, value: unknown): HeaderProblem | undefined {
  if (typeof value === 'string') return checkValue(header, given, value)
  if (typeof value === 'boolean') return checkValue(header, given, value ? 'true' : 'false')
  if (isSendable(value)) return checkNumber(header, given, value)
  return given === undefined ? undefined : { header, reason: 'repeats an argument that is not in the body' }
}

function checkNumber(header: string, given: string | undefined, value: number): HeaderProblem | undefined {
  const text = given === undefined ? undefined : decodeHeaderValue(given)
  if (text !== undefined && NUMBER.test(text) && Number(text) === value) return undefined
  return checkValue(header, given, String(value))
}

/** The headers that a client adds to a call: none for arguments that are absent, null or not a plain value. */
export function toParamHeaders(
  params: readonly ParamHeader[],
  args: unknown,
): readonly (readonly [header: string, value: string])[] {
  const headers: [string, string][] = []
  for (const { header, path } of params) {
    const value = valueAt(args, path)
    if (typeof value === 'string') headers.push([header, encodeHeaderValue(value)])
    else if (typeof value === 'boolean' || isSendable(value)) headers.push([header, String(value)])
  }
  return headers
}

/** Integers beyond 2^53 - 1 are not sent in headers. */
function isSendable(value: unknown): value is number {
  return (
    typeof value === 'number' &&
    Number.isFinite(value) &&
    (!Number.isInteger(value) || Number.isSafeInteger(value))
  )
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}
