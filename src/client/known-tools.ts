import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Check } from './checking.ts'
import { weigh } from './weight.ts'

/** The headers in which arguments of a call travel too. */
export type ParamHeaders = (args: unknown) => Readonly<Record<string, string>>

/** What is known of a tool from the list it was seen in. */
export interface KnownTool {
  /** Undefined where no argument travels in a header. */
  readonly paramHeaders: ParamHeaders | undefined
  /** Whether a call may be repeated. */
  readonly repeatable: boolean
  /** Checks arguments and structured output; undefined where there is no schema. What cannot be checked passes. */
  readonly input: Check | undefined
  readonly output: Check | undefined
  /** About how much memory it takes. */
  readonly weight: number
}

const MARK = 'x-mcp-header'
const MAX_DEPTH = 64
const MAX_TOOLS = 100_000
const MAX_WEIGHT = 67_108_864

/** The tools that a client has seen. */
export class KnownTools {
  readonly #tools = new Map<string, KnownTool>()
  #weight = 0

  get(name: string): KnownTool | undefined {
    return this.#tools.get(name)
  }

  forget(): void {
    this.#tools.clear()
    this.#weight = 0
  }

  /** Takes a tool from a list. Returns why it cannot be used where headers repeat arguments. */
  async add(descriptor: JsonObject): Promise<string | undefined> {
    const name = String(descriptor['name'])
    const paramHeaders = mayMark(descriptor['inputSchema'])
      ? await toParamHeadersOf(descriptor['inputSchema'])
      : undefined
    if (typeof paramHeaders === 'string') return paramHeaders
    this.#weight -= this.#tools.get(name)?.weight ?? 0
    this.#tools.delete(name)
    const weight = name.length + weigh(descriptor['inputSchema']) + weigh(descriptor['outputSchema'])
    if (this.#tools.size >= MAX_TOOLS || this.#weight + weight > MAX_WEIGHT) return undefined
    this.#weight += weight
    const hints = (descriptor['annotations'] ?? {}) as JsonObject
    const repeatable = hints['idempotentHint'] === true || hints['readOnlyHint'] === true
    this.#tools.set(name, {
      paramHeaders,
      repeatable,
      input: checkOf(descriptor['inputSchema'], 'input'),
      output: checkOf(descriptor['outputSchema'], 'output'),
      weight,
    })
    return undefined
  }
}

/** Whether a schema may mark arguments that travel in headers; what is nested too deep to tell may. */
function mayMark(schema: unknown, depth = 0): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  if (depth > MAX_DEPTH || Object.hasOwn(schema, MARK)) return true
  return Object.values(schema).some((inner) => mayMark(inner, depth + 1))
}

/** What makes the headers of a tool's calls, or what is wrong with the marks in its schema. */
async function toParamHeadersOf(schema: unknown): Promise<ParamHeaders | string> {
  const { paramHeadersOf, toParamHeaders } = await import('../wire/param-headers.ts')
  const marked = paramHeadersOf(schema)
  if ('problem' in marked) return marked.problem
  return (args) => Object.fromEntries(toParamHeaders(marked, args))
}

function checkOf(schema: unknown, side: 'input' | 'output'): Check | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  let check: Promise<Check> | undefined
  return async (value) => {
    check ??= load(schema as JsonObject, side).catch((error: unknown) => {
      check = undefined
      throw error
    })
    return (await check)(value)
  }
}

/** Checking costs more code than all the rest, so it waits for the first tool that needs it. */
async function load(schema: JsonObject, side: 'input' | 'output'): Promise<Check> {
  const { toCheck } = await import('./checking.ts')
  return toCheck(schema, side)
}
