import { mcpError } from '../errors/error.ts'
import { BAD_DEFINITION, DESCRIPTION_TOO_LONG } from '../errors/server.ts'
import { toMs, type Duration } from '../base/duration.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import { FREE_ANNOTATIONS, metaKeyProblem } from '../protocol/meta.ts'
import {
  anything,
  callable,
  DURATION,
  FLAG,
  listOf,
  NUMBER,
  object,
  TEXT,
  type KindsOf,
} from '../base/kinds.ts'
import { checkOptions } from '../base/options.ts'
import type { Icon } from '../protocol/spec/2026-07-28.ts'
import type { RefusalName } from '../protocol/refusals.ts'
import { SCOPE } from '../rpc/scopes.ts'
import { toChecker, type Checker } from '../schema/checker.ts'
import { SchemaError } from '../schema/schema-error.ts'
import type { AnySchema } from '../schema/schema.ts'
import { isStandard } from '../schema/shown.ts'
import { parseTemplate } from '../uri-template/parse.ts'
import type { Context } from './context.ts'
import { kept } from './reply.ts'
import type {
  Item,
  PromptDefinition,
  ResourceDefinition,
  TemplateDefinition,
  ToolDefinition,
} from './definitions.ts'

/** Hints for the client about a tool's effects. */
export interface Hints {
  readonly readOnly?: boolean | undefined
  readonly destructive?: boolean | undefined
  readonly idempotent?: boolean | undefined
  readonly openWorld?: boolean | undefined
}

/** Options that every item has. */
export interface ItemOptions<Ctx = Context> {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly icons?: readonly Icon[] | undefined
  readonly _meta?: JsonObject | undefined
  /** Whether a caller sees the item. Hidden items do not exist for that caller. */
  readonly visible?: ((context: Ctx) => boolean) | undefined
  /** Scopes that the caller must have to use the item. Lists show it to everybody. */
  readonly scopes?: readonly string[] | undefined
}

export interface ToolSpec<Ctx> extends ItemOptions<Ctx> {
  readonly input?: AnySchema
  readonly output?: AnySchema
  readonly hints?: Hints
  readonly timeout?: Duration
}

/** Official annotations are sent as such; all others go into `_meta`. */
export interface ResourceAnnotations {
  /** The protocol defines `user` and `assistant`. */
  readonly audience?: readonly ('user' | 'assistant' | (string & {}))[] | undefined
  readonly priority?: number | undefined
  readonly lastModified?: string | undefined
  readonly [name: string]: unknown
}

export interface ResourceOptions<Ctx = Context> extends ItemOptions<Ctx> {
  readonly name?: string | undefined
  readonly mimeType?: string | undefined
  readonly size?: number | undefined
  readonly annotations?: ResourceAnnotations | undefined
}

export interface PromptOptions<Ctx = Context> extends ItemOptions<Ctx> {
  readonly args?: AnySchema | undefined
}

const ITEM_OPTIONS: KindsOf<ItemOptions> = {
  title: TEXT,
  description: TEXT,
  icons: listOf(object<Icon>('{ src }')),
  _meta: object<JsonObject>(),
  visible: callable<(context: Context) => boolean>(),
  scopes: listOf(SCOPE),
}
const TOOL_OPTIONS: KindsOf<ToolSpec<Context>> = {
  ...ITEM_OPTIONS,
  input: anything<AnySchema>(),
  output: anything<AnySchema>(),
  hints: object<Hints>(),
  timeout: DURATION,
}
const RESOURCE_OPTIONS: KindsOf<ResourceOptions> = {
  ...ITEM_OPTIONS,
  name: TEXT,
  mimeType: TEXT,
  size: NUMBER,
  annotations: object<ResourceAnnotations>(),
}
const PROMPT_OPTIONS: KindsOf<PromptOptions> = { ...ITEM_OPTIONS, args: anything<AnySchema>() }
/** The names of our options in other libraries. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['inputSchema', 'input'],
  ['parameters', 'input'],
  ['outputSchema', 'output'],
  ['annotations', 'hints'],
  ['argsSchema', 'args'],
  ['arguments', 'args'],
])
const HINTS: KindsOf<Hints> = { readOnly: FLAG, destructive: FLAG, idempotent: FLAG, openWorld: FLAG }

const NO_INPUT: JsonObject = Object.freeze({ type: 'object', additionalProperties: false })

let places = 0

/** Builds a tool from its definition; throws an error that names the tool if no client could use it. */
export function toTool(
  name: string,
  spec: ToolSpec<Context>,
  run: ToolDefinition['run'],
  limits: Limits,
): ToolDefinition {
  const item = `tool "${name}"`
  checkName(item, name, limits)
  if (typeof spec === 'function')
    throw badDefinition(item, 'the options are missing: write tool(name, {}, handler)')
  checkOptions(item, spec, TOOL_OPTIONS, ELSEWHERE)
  if (typeof run !== 'function') throw badDefinition(item, 'the handler is not a function')
  checkDescription(item, spec.description ?? '', limits)
  const input = checkerOf(item, 'input', spec.input === undefined ? NO_INPUT : spec.input, limits)
  if (input.json['type'] !== 'object')
    throw badDefinition(item, 'the input must be an object schema; wrap it in an object')
  const output = spec.output === undefined ? undefined : outputOf(item, spec.output, limits)
  const descriptor = {
    name,
    ...describe(spec),
    inputSchema: input.json,
    ...(output === undefined ? {} : { outputSchema: output.json }),
    ...(spec.hints === undefined ? {} : { annotations: toAnnotations(item, spec.hints) }),
    ...(spec._meta === undefined ? {} : { _meta: spec._meta }),
  }
  const timeoutMs = spec.timeout === undefined ? undefined : toMs(spec.timeout, `${item} timeout`)
  return { ...toItem(name, descriptor, spec), input, output, timeoutMs, run }
}

/** Builds a resource or, if its URI has variables, a template. */
export function toResource(
  uri: string,
  spec: ResourceOptions<Context>,
  read: ResourceDefinition['read'],
): ResourceDefinition | TemplateDefinition {
  const item = `resource "${uri}"`
  if (typeof spec === 'function')
    throw badDefinition(item, 'the options are missing: write resource(uri, {}, handler)')
  checkOptions(item, spec, RESOURCE_OPTIONS)
  if (typeof read !== 'function') throw badDefinition(item, 'the handler is not a function')
  const { mimeType, size, annotations } = spec
  const { known, free } = sortAnnotations(annotations ?? {})
  const meta = free === undefined ? spec._meta : { ...spec._meta, [FREE_ANNOTATIONS]: free }
  const about = {
    name: spec.name ?? nameOf(uri),
    ...describe(spec),
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(known === undefined ? {} : { annotations: known }),
    ...(meta === undefined ? {} : { _meta: meta }),
  }
  if (uri.includes('{') || uri.includes('}')) {
    const template = templateOf(item, uri)
    return { ...toItem(uri, { uriTemplate: uri, ...about }, spec), mimeType, read, template }
  }
  if (!URL.canParse(uri))
    throw badDefinition(item, 'it is not a URI; write something like "orders://list" or "file:///notes.md"')
  const descriptor = { uri, ...about, ...(size === undefined ? {} : { size }) }
  return { ...toItem(uri, descriptor, spec), mimeType, read }
}

/** Builds a prompt from its definition; the properties of its schema become its arguments. */
export function toPrompt(
  name: string,
  spec: PromptOptions<Context>,
  run: PromptDefinition['run'],
  limits: Limits,
): PromptDefinition {
  const item = `prompt "${name}"`
  checkName(item, name, limits)
  if (typeof spec === 'function')
    throw badDefinition(item, 'the options are missing: write prompt(name, {}, handler)')
  checkOptions(item, spec, PROMPT_OPTIONS, ELSEWHERE)
  if (typeof run !== 'function') throw badDefinition(item, 'the handler is not a function')
  const args = spec.args === undefined ? undefined : checkerOf(item, 'args', spec.args, limits)
  const shownArgs = args === undefined ? [] : toArguments(item, args.json)
  const descriptor = {
    name,
    ...describe(spec),
    ...(shownArgs.length === 0 ? {} : { arguments: shownArgs }),
    ...(spec._meta === undefined ? {} : { _meta: spec._meta }),
  }
  return { ...toItem(name, descriptor, spec), args, argNames: shownArgs.map((one) => one.name), run }
}

export function isTemplate(
  resource: ResourceDefinition | TemplateDefinition,
): resource is TemplateDefinition {
  return 'template' in resource
}

function toItem(key: string, descriptor: JsonObject, spec: ItemOptions<Context>): Item {
  for (const name of Object.keys(spec._meta ?? {})) {
    const problem = metaKeyProblem(name)
    if (problem !== undefined)
      throw badDefinition(`"${key}"`, `the _meta key "${name}" cannot be used: ${problem}`)
  }
  return {
    key,
    place: ++places,
    descriptor,
    visible: spec.visible,
    scopes: spec.scopes?.length === 0 ? undefined : spec.scopes,
  }
}

function describe({ title, description, icons }: ItemOptions<Context>): JsonObject {
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(icons === undefined ? {} : { icons }),
  }
}

function toAnnotations(item: string, hints: Hints): JsonObject {
  checkOptions(`${item} hints`, hints, HINTS)
  return Object.fromEntries(Object.entries(hints).map(([name, value]) => [`${name}Hint`, value as boolean]))
}

interface Sorted {
  readonly known?: JsonObject | undefined
  readonly free?: JsonObject | undefined
}

/** Separates official annotations from others. */
function sortAnnotations(annotations: ResourceAnnotations): Sorted {
  const entries = Object.entries(annotations).filter(([, value]) => value !== undefined)
  const isKnown = ([name, value]: readonly [string, unknown]): boolean =>
    name === 'audience'
      ? Array.isArray(value) && value.every((one) => one === 'user' || one === 'assistant')
      : name === 'priority' || name === 'lastModified'
  const known = entries.filter(isKnown)
  const free = entries.filter((entry) => !isKnown(entry))
  return {
    known: known.length === 0 ? undefined : Object.fromEntries(known),
    free: free.length === 0 ? undefined : Object.fromEntries(free),
  }
}

function toArguments(item: string, schema: JsonObject): { readonly name: string }[] {
  if (schema['type'] !== 'object') throw badDefinition(item, 'args must be an object schema')
  const required = (schema['required'] ?? []) as readonly string[]
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonObject>)
  const never = properties.find(([, { type }]) => type !== undefined && ![type].flat().includes('string'))
  if (never !== undefined)
    throw badDefinition(
      item,
      `the argument "${never[0]}" does not accept strings, but clients send only strings; accept a string and convert it`,
    )
  return properties.map(([name, property]) => ({
    name,
    ...(typeof property['title'] === 'string' ? { title: property['title'] } : {}),
    ...(typeof property['description'] === 'string' ? { description: property['description'] } : {}),
    required: required.includes(name),
  }))
}

/** Compiles a schema; throws an error that names the item if it is unusable. */
export function checkerOf(
  item: string,
  part: 'input' | 'output' | 'args',
  schema: AnySchema,
  limits: Limits,
): Checker {
  try {
    return toChecker(schema, part === 'output' ? 'output' : 'input', limits)
  } catch (error) {
    if (error instanceof SchemaError)
      throw badDefinition(item, `${part}: ${error.message}`, 'INVALID_JSON_SCHEMA')
    throw error
  }
}

/** The checker of what a tool returns. A JSON Schema describes the form that is sent, so that form is checked. */
function outputOf(item: string, schema: AnySchema, limits: Limits): Checker {
  const checker = checkerOf(item, 'output', schema, limits)
  return isStandard(schema) ? checker : { ...checker, check: (value) => checker.check(kept(value)) }
}

function templateOf(item: string, uri: string): TemplateDefinition['template'] {
  try {
    return parseTemplate(uri)
  } catch (error) {
    throw badDefinition(item, (error as Error).message)
  }
}

function checkName(item: string, name: string, { nameLength }: Limits): void {
  if (name.length <= nameLength && /^[A-Za-z0-9_.-]+$/.test(name)) return
  throw badDefinition(item, `a name has 1 to ${nameLength} of the characters A-Z a-z 0-9 _ . -`)
}

function checkDescription(item: string, { length }: string, { descriptionLength }: Limits): void {
  if (length > descriptionLength) throw mcpError(DESCRIPTION_TOO_LONG, { item: item.slice(0, 256), length })
}

/** The default name of a resource: the last readable part of its URI. */
function nameOf(uri: string): string {
  const parts = uri.replace(/[{}+#./;?&*]/g, ' ').split(/[\s:]+/)
  return parts.findLast((part) => part !== '') ?? uri
}

function badDefinition(item: string, reason: string, refusal?: RefusalName): Error {
  const extras = refusal === undefined ? {} : { refusal }
  return mcpError(BAD_DEFINITION, { item: item.slice(0, 256), reason }, extras)
}
