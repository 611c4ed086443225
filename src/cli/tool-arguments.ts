import { nearest } from '../base/nearest.ts'
import { fileText, stdinText } from './argument-text.ts'
import { isMembers } from './config-entry.ts'
import { Failure, wrongUsage } from './failure.ts'
import type { Io } from './io.ts'
import { numbersIn } from './json-text.ts'
import { JsoncError, parseJsonc } from './jsonc.ts'
import { safeLine } from './safe-text.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** A JSON Schema, as far as words are read with it. It comes from a server, so every member may be anything. */
interface Schema {
  readonly type?: unknown
  readonly enum?: unknown
  readonly const?: unknown
  readonly properties?: unknown
  readonly items?: unknown
  readonly anyOf?: unknown
  readonly oneOf?: unknown
  readonly additionalProperties?: unknown
  readonly patternProperties?: unknown
  readonly allOf?: unknown
  readonly $ref?: unknown
}

export interface ArgumentSources {
  /** `key=value`, `key:=json`, `key=@file`, `@file` with all arguments as JSON, or `-` for stdin. */
  readonly words: readonly string[]
  /** All arguments as JSON text, from `--input`. */
  readonly input?: string | undefined
  /** The schema of the tool; undefined if it is not known. */
  readonly schema?: JsonObject | undefined
}

/** The arguments of a tool from the words of a command line, each read as the schema of the tool wants it. */
export async function toolArguments(
  { words, input, schema = {} }: ArgumentSources,
  io: Io,
): Promise<JsonObject> {
  let all: Record<string, unknown> = input === undefined ? {} : { ...objectOf(input, '--input') }
  for (const word of words) {
    if (word === '-') all = { ...all, ...objectOf(await stdinText(io), 'stdin') }
    else if (word.startsWith('@'))
      all = { ...all, ...objectOf(await fileText(word.slice(1), io), word.slice(1)) }
    else await setArgument(all, word, schema as Schema, io)
  }
  return all
}

async function setArgument(
  all: Record<string, unknown>,
  word: string,
  schema: Schema,
  io: Io,
): Promise<void> {
  const { path, mark, text, keys } = partsOf(word, schema)
  checkKey(keys[0] ?? '', schema)
  const own = keys.reduce<Schema>(
    (inner, key) =>
      schemaOf(
        branchesOf(inner)
          .map((one) => membersOf(one.properties)[key])
          .find(isMembers),
      ),
    schema,
  )
  const raw = text.startsWith('@')
    ? await fileText(text.slice(1), io)
    : text.startsWith('\\@')
      ? text.slice(1)
      : text
  const value =
    mark === ':=' ? jsonOf(raw, path) : coerced(isEndNoise(text, own) ? raw.trimEnd() : raw, own, path)
  let place = all
  for (const key of keys.slice(0, -1)) {
    const inner = Object.hasOwn(place, key) ? place[key] : undefined
    const next = typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? { ...inner } : {}
    define(place, key, next)
    place = next as Record<string, unknown>
  }
  const last = keys.at(-1) ?? ''
  const before = Object.hasOwn(place, last) ? place[last] : undefined
  const isRepeated = Array.isArray(before) && Array.isArray(value) && mark === '='
  define(place, last, isRepeated ? [...(before as unknown[]), ...(value as unknown[])] : value)
}

/** Whether a value is from a file, whose last line end belongs to no value but a text. */
function isEndNoise(text: string, schema: Schema): boolean {
  const types = typesOf(schema)
  return text.startsWith('@') && types.length > 0 && !types.includes('string')
}

/** What a word says: which member gets which text. */
interface Parts {
  readonly path: string
  readonly mark: '=' | ':='
  readonly text: string
  /** The names of the members that lead to the value. */
  readonly keys: readonly string[]
}

/** The parts of `key=value` or `key:=json`. A member whose name has dots or colons is meant rather than a path. */
function partsOf(word: string, schema: Schema): Parts {
  const names = new Set(branchesOf(schema).flatMap((one) => Object.keys(membersOf(one.properties))))
  const longest = Array.from(names).reduce((most, { length }) => Math.max(most, length), 0)
  for (let at = word.indexOf('='); at >= 0 && at <= longest + 1; at = word.indexOf('=', at + 1)) {
    const [json, plain] = [word.slice(0, at - 1), word.slice(0, at)]
    const text = word.slice(at + 1)
    // The colon before the mark may belong to the name.
    if (word[at - 1] === ':' && names.has(json)) return { path: json, mark: ':=', text, keys: [json] }
    if (names.has(plain)) return { path: plain, mark: '=', text, keys: [plain] }
  }
  const [, path = '', mark, text = ''] = /^([^=:]+)(:?=)([^]*)$/.exec(word) ?? []
  if (mark === undefined)
    throw wrongUsage(
      `"${word}" is not an argument`,
      'Write key=value, key:=json, key=@file, @file or - for stdin.',
    )
  return { path, mark: mark as Parts['mark'], text, keys: path.split('.') }
}

/** Sets a member, whatever its name is. */
function define(place: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(place, key, { value, enumerable: true, configurable: true, writable: true })
}

/** Rejects an argument that the tool does not have, if its schema says so, and one that looks like a slip. */
function checkKey(key: string, schema: Schema): void {
  const names = Object.keys(membersOf(schema.properties))
  if (names.length === 0 || names.includes(key) || branchesOf(schema).length > 1) return
  const similar = nearest(key, names)
  if (schema.additionalProperties !== false && similar === undefined) return
  throw wrongUsage(
    `the tool has no argument "${key}"${similar === undefined ? '' : `; did you mean "${similar}"?`}`,
    `Its arguments are ${listed(names)}.`,
  )
}

/** What to say about arguments that the schema does not name, unless it says that there may be others. */
export function unnamedText(schema: JsonObject, input: JsonObject): string | undefined {
  const { properties, additionalProperties, patternProperties, allOf, $ref }: Schema = schema
  const isOpen = [additionalProperties, patternProperties, allOf, $ref].some((one) => one !== undefined)
  const names = Object.keys(membersOf(properties))
  const unnamed = Object.keys(input).filter((key) => !names.includes(key))
  if (isOpen || branchesOf(schema).length > 1 || names.length === 0 || unnamed.length === 0) return undefined
  return `the tool does not list ${listed(unnamed.map((key) => `"${key}"`))}, and may ignore what it does not know; its arguments are ${listed(names)}`
}

/** The first names of a schema, which may have any number of any length. */
function listed(names: readonly string[]): string {
  return `${safeLine(names.slice(0, MOST_NAMES).join(', '), 500)}${names.length > MOST_NAMES ? ', …' : ''}`
}

const MOST_NAMES = 30

/** A schema and its alternatives. */
function branchesOf(schema: Schema): readonly Schema[] {
  return [schema, ...[...listOf(schema.anyOf), ...listOf(schema.oneOf)].map(schemaOf)]
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function membersOf(value: unknown): JsonObject {
  return isMembers(value) ? value : {}
}

function schemaOf(value: unknown): Schema {
  return membersOf(value)
}

function typesOf(schema: Schema): readonly string[] {
  return branchesOf(schema).flatMap(({ type, enum: values, const: only }) => [
    ...[type].flat().filter((one) => typeof one === 'string'),
    ...[...listOf(values), only].flatMap((value) => (value === undefined ? [] : [jsonType(value)])),
  ])
}

function jsonType(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

/** Text as the type that a schema wants. Text that fits none stays text, and the server says what is wrong with it. */
function coerced(text: string, schema: Schema, path: string): unknown {
  const types = new Set(typesOf(schema))
  if (types.has('string') && types.size === 1) return text
  if (types.has('null') && (text === 'null' || (text === '' && !types.has('string')))) return null
  if (types.has('boolean') && /^(?:true|false|yes|no)$/i.test(text)) return /^(?:true|yes)$/i.test(text)
  if ((types.has('number') || types.has('integer')) && isNumber(text)) {
    if (isExact(text)) return Number(text)
    if (!types.has('string')) throw tooManyDigits(path, text)
  }
  if (types.has('boolean') && !types.has('string') && /^(?:on|off|1|0)$/i.test(text))
    return /^(?:on|1)$/i.test(text)
  if (types.has('object') && text.trimStart().startsWith('{')) return jsonOf(text, path)
  if (types.has('array')) return arrayOf(text, schema, path)
  if (types.has('string')) return text
  if (types.size > 0)
    throw wrongUsage(
      `${path} must be ${[...types].join(' or ')}, not "${shortened(text)}"`,
      `Write ${path}:=json for any JSON value.`,
    )
  // Nothing is known of it, so what looks like a number, a list or an object is one.
  const isJson = isNumber(text) ? isExact(text) : /^\s*(?:[[{"]|true$|false$|null$)/.test(text)
  return isJson ? (tryJson(text) ?? text) : text
}

function isNumber(text: string): boolean {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text))
}

/** Whether a number has the same digits when it is written again. Digits after the point may be rounded. */
function isExact(text: string): boolean {
  return !/^-?\d+$/.test(text) || String(Number(text)) === text || text === '-0'
}

function tooManyDigits(path: string, text: string): Failure {
  return wrongUsage(
    `${path}: ${shortened(text)} has more digits than a number keeps`,
    'Write it in quotes if the tool takes text there; a number keeps about 15 digits.',
  )
}

function arrayOf(text: string, schema: Schema, path: string): readonly unknown[] {
  if (text.trimStart().startsWith('[')) {
    const value = jsonOf(text, path)
    if (Array.isArray(value)) return value
  }
  // An object has commas of its own.
  if (text.trimStart().startsWith('{') && isMembers(tryJson(text))) return [jsonOf(text, path)]
  const items = schemaOf(branchesOf(schema).find((one) => one.items !== undefined)?.items)
  return text === '' ? [] : text.split(',').map((item) => coerced(item.trim(), items, path))
}

function objectOf(text: string, from: string): JsonObject {
  const value = jsonOf(text, from)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw wrongUsage(`${from} is not a JSON object`, 'Arguments are an object: {"a": 1}.')
}

function jsonOf(text: string, from: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    const inexact = Array.from(numbersIn(text)).find((number) => !isExact(number))
    if (inexact !== undefined) throw tooManyDigits(from, inexact)
    return value
  } catch (error) {
    if (error instanceof Failure) throw error
    // The message of the parser would show a part of the text, which may be a secret.
    throw wrongUsage(
      `${from} is not valid JSON${placeOf(text)}`,
      'Mind the quotes of your shell: \'{"a": 1}\'.',
    )
  }
}

/** Where a text stops to be JSON, without any of it. */
function placeOf(text: string): string {
  try {
    parseJsonc(text)
    return ': JSON has no comments, and no comma before } and ]'
  } catch (error) {
    return error instanceof JsoncError ? `: ${error.message}` : ''
  }
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
