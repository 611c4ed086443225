import { mcpError } from '../errors/error.ts'
import { BAD_DEFINITION, DESCRIPTION_TOO_LONG } from '../errors/server.ts'
import { toMs, type Duration } from '../base/duration.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import { metaKeyProblem, TASK_SUPPORT } from '../protocol/meta.ts'
import { anything, callable, DURATION, FLAG, listOf, object, TEXT, type KindsOf } from '../base/kinds.ts'
import { checkOptions } from '../base/options.ts'
import type { Icon } from '../protocol/spec/2026-07-28.ts'
import type { RefusalName } from '../protocol/refusals.ts'
import { SCOPE } from '../rpc/scopes.ts'
import { toChecker, type Checker } from '../schema/checker.ts'
import { SchemaError } from '../schema/schema-error.ts'
import type { Advice, AnySchema, StandardIssue } from '../schema/schema.ts'
import { isStandard } from '../schema/shown.ts'
import type { Context } from './context.ts'
import { kept } from './reply.ts'
import { toPlan } from './task-option.ts'
import type { Item, PromptDefinition, ToolDefinition } from './definitions.ts'

/** Hints for the client about a tool's effects. They are not enforced, and what is left out is not sent. */
export interface Hints {
  /**
   * Whether the tool changes nothing. Clients of this library then repeat a call whose answer was lost. Default: not sent;
   * clients assume `false`.
   */
  readonly readOnly?: boolean | undefined
  /** Whether the tool may delete or overwrite something, if it is not `readOnly`. Default: not sent; clients assume `true`. */
  readonly destructive?: boolean | undefined
  /**
   * Whether calling the tool again with the same arguments changes nothing more, if it is not `readOnly`. Clients of this
   * library then repeat a call whose answer was lost. Default: not sent; clients assume `false`.
   */
  readonly idempotent?: boolean | undefined
  /** Whether the tool reaches systems beyond the server's own, such as the web. Default: not sent; clients assume `true`. */
  readonly openWorld?: boolean | undefined
}

/** Options that every item has. */
export interface ItemOptions<Ctx = Context> {
  /** The name for people, in lists and menus. Default: none; clients show the name for programs. */
  readonly title?: string | undefined
  /** Tells the model what the item is and when to use it; of tools, at most `limits.descriptionLength` characters. Default: none. */
  readonly description?: string | undefined
  /** Images for clients to show, such as `[{ src: 'https://example.com/order.svg' }]`. Default: none. */
  readonly icons?: readonly Icon[] | undefined
  /** Data for programs, which lists include. Keys are `name` or `example.com/name`. Default: none. */
  readonly _meta?: JsonObject | undefined
  /**
   * Whether a caller sees the item. For a caller who does not, it is missing from lists and does not exist. The function is
   * synchronous, since it runs for every list and every use; `provide` may load what it needs. Default: everybody sees it.
   *
   * @example
   * app.tool('refund', { visible: ({ auth }) => auth?.['role'] === 'manager' }, () => …)
   */
  readonly visible?: ((context: Ctx) => boolean) | undefined
  /**
   * Scopes that the caller must have, all of them, to use the item. Lists show it to everybody, and other callers get the
   * error `insufficient_scope`. Default: none are needed.
   *
   * @example
   * app.tool('refund', { scopes: ['orders:write'] }, () => …)
   */
  readonly scopes?: readonly string[] | undefined
}

export interface ToolSpec<Ctx> extends ItemOptions<Ctx> {
  readonly input?: AnySchema
  readonly output?: AnySchema
  readonly hints?: Hints
  readonly timeout?: Duration
  readonly task?: unknown
}

/** The options of `app.prompt`. */
export interface PromptOptions<Ctx = Context, Args = AnySchema> extends ItemOptions<Ctx> {
  /**
   * The schema of the arguments, an object whose properties accept strings, because clients send nothing else. Default: the
   * prompt has no arguments.
   *
   * @example
   * app.prompt('review', { args: z.object({ file: z.string(), depth: z.coerce.number() }) }, ({ file, depth }) => …)
   */
  readonly args?: (Args & Advice<Args>) | undefined
}

export const ITEM_OPTIONS: KindsOf<ItemOptions> = {
  title: TEXT,
  description: TEXT,
  icons: listOf(object<Icon>('{ src }')),
  _meta: object<JsonObject>(),
  visible: callable<(context: Context) => boolean>('a function: (context) => true or false'),
  scopes: listOf(SCOPE),
}
const TOOL_OPTIONS: KindsOf<ToolSpec<Context>> = {
  ...ITEM_OPTIONS,
  input: anything<AnySchema>(),
  output: anything<AnySchema>(),
  hints: object<Hints>(),
  timeout: DURATION,
  task: anything<unknown>(),
}
const PROMPT_OPTIONS: KindsOf<PromptOptions> = { ...ITEM_OPTIONS, args: anything<AnySchema>() }
/** The names of our options in other libraries, and options of `task`. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['inputSchema', 'input'],
  ['parameters', 'input'],
  ['outputSchema', 'output'],
  ['annotations', 'hints'],
  ['argsSchema', 'args'],
  ['arguments', 'args'],
  ...['after', 'ttl', 'poll', 'retries', 'concurrency', 'key', 'onRestart'].map(
    (name) => [name, `write task: { ${name}: … }`] as const,
  ),
])
const HINTS: KindsOf<Hints> = { readOnly: FLAG, destructive: FLAG, idempotent: FLAG, openWorld: FLAG }

const NO_INPUT: JsonObject = Object.freeze({ type: 'object', additionalProperties: false })

/** Builds a tool from its definition; throws an error that names the tool if no client could use it. */
export function toTool(
  name: string,
  spec: ToolSpec<Context>,
  run: ToolDefinition['run'],
  limits: Limits,
): ToolDefinition {
  const item = checkArguments('tool', 'name', 'description', [name, spec, run])
  checkName(item, name, limits)
  checkOptions(item, spec, TOOL_OPTIONS, ELSEWHERE)
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
  const { readOnly, idempotent } = spec.hints ?? {}
  const task = toPlan(item, spec.task, readOnly === true || idempotent === true)
  const listed = task === undefined ? descriptor : { ...descriptor, [TASK_SUPPORT]: task.mode }
  return { ...toItem(name, listed, spec), input, output, timeoutMs, task, run }
}

/** Builds a prompt from its definition; the properties of its schema become its arguments. */
export function toPrompt(
  name: string,
  spec: PromptOptions<Context>,
  run: PromptDefinition['run'],
  limits: Limits,
): PromptDefinition {
  const item = checkArguments('prompt', 'name', 'description', [name, spec, run])
  checkName(item, name, limits)
  checkOptions(item, spec, PROMPT_OPTIONS, ELSEWHERE)
  const args = spec.args === undefined ? undefined : checkerOf(item, 'args', spec.args, limits)
  const shownArgs = args === undefined ? [] : toArguments(item, args.json, spec.args as AnySchema)
  const descriptor = {
    name,
    ...describe(spec),
    ...(shownArgs.length === 0 ? {} : { arguments: shownArgs }),
    ...(spec._meta === undefined ? {} : { _meta: spec._meta }),
  }
  return { ...toItem(name, descriptor, spec), args, argNames: shownArgs.map((one) => one.name), run }
}

export function toItem(key: string, descriptor: JsonObject, spec: ItemOptions<Context>): Item {
  checkMeta(`"${key}"`, spec)
  return {
    key,
    place: 0,
    descriptor,
    visible: spec.visible,
    scopes: spec.scopes?.length === 0 ? undefined : spec.scopes,
    spec,
  }
}

export function checkMeta(item: string, { _meta = {} }: Pick<ItemOptions, '_meta'>): void {
  for (const name of Object.keys(_meta)) {
    const problem = metaKeyProblem(name)
    if (problem !== undefined) throw badDefinition(item, `the _meta key "${name}" cannot be used: ${problem}`)
  }
}

export function describe({ title, description, icons }: Omit<ItemOptions, 'visible'>): JsonObject {
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

function toArguments(item: string, schema: JsonObject, given: AnySchema): { readonly name: string }[] {
  if (schema['type'] !== 'object') throw badDefinition(item, 'args must be an object schema')
  const required = (schema['required'] ?? []) as readonly string[]
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonObject>)
  const never = properties.find(
    ([name, { type }]) =>
      type !== undefined && ![type].flat().includes('string') && !acceptsText(given, name),
  )
  if (never !== undefined) {
    const problem = `the argument "${never[0]}" does not accept strings, but clients send only strings`
    throw badDefinition(item, `${problem}; convert it, for example with z.coerce.number()`)
  }
  return properties.map(([name, property]) => ({
    name,
    ...(typeof property['title'] === 'string' ? { title: property['title'] } : {}),
    ...(typeof property['description'] === 'string' ? { description: property['description'] } : {}),
    required: required.includes(name),
  }))
}

/** Whether a library's schema converts text to what a property needs, which its JSON Schema does not show. */
function acceptsText(schema: AnySchema, name: string): boolean {
  if (!isStandard(schema)) return false
  return ['1', 'true'].some((text) => {
    const result = schema['~standard'].validate({ [name]: text })
    return 'then' in result || !(result.issues ?? []).some((issue) => startsAt(issue, name))
  })
}

function startsAt({ path = [] }: StandardIssue, name: string): boolean {
  const [first] = path
  return (typeof first === 'object' ? first.key : first) === name
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

function checkName(item: string, name: string, { nameLength }: Limits): void {
  if (name.length <= nameLength && /^[A-Za-z0-9_.-]+$/.test(name)) return
  const better = name.trim().replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
  const remedy = /[A-Za-z0-9]/.test(better) && better.length <= nameLength ? `; write "${better}"` : ''
  throw badDefinition(item, `a name has 1 to ${nameLength} of the characters A-Z a-z 0-9 _ . -${remedy}`)
}

/** Checks the order of the arguments of a definition, which differs from other libraries. Returns the name for errors. */
export function checkArguments(
  kind: 'tool' | 'resource' | 'prompt',
  key: string,
  option: string,
  [name, spec, run]: readonly [unknown, unknown, unknown],
): string {
  if (typeof name !== 'string')
    throw badDefinition(
      kind,
      `the ${key} of a ${kind} must be a string; write ${kind}(${key}, { … }, handler)`,
    )
  const item = `${kind} "${name}"`
  if (typeof spec === 'function')
    throw badDefinition(item, `the options are missing: write ${kind}(${key}, {}, handler)`)
  if (typeof spec === 'string')
    throw badDefinition(item, `the options are a string; write ${kind}(${key}, { ${option} }, handler)`)
  if (typeof run !== 'function') {
    const problem = run === undefined ? 'the handler is missing' : 'the handler is not a function'
    const input = { tool: 'input', resource: 'variables', prompt: 'args' }[kind]
    throw badDefinition(item, `${problem}; write ${kind}(${key}, { … }, (${input}, ctx) => …)`)
  }
  return item
}

function checkDescription(item: string, { length }: string, { descriptionLength }: Limits): void {
  if (length > descriptionLength) throw mcpError(DESCRIPTION_TOO_LONG, { item: item.slice(0, 256), length })
}

export function badDefinition(item: string, reason: string, refusal?: RefusalName): Error {
  const extras = refusal === undefined ? {} : { refusal }
  return mcpError(BAD_DEFINITION, { item: item.slice(0, 256), reason }, extras)
}
