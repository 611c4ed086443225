import type { JsonObject } from '../protocol/jsonrpc.ts'
import { paramHeadersOf, type ParamHeader } from '../wire/param-headers.ts'
import type { Check } from './checking.ts'
import { weigh } from './weight.ts'

/** What is known of a tool from the list it was seen in. */
export interface KnownTool {
  readonly paramHeaders: readonly ParamHeader[]
  /** Whether a call may be repeated. */
  readonly repeatable: boolean
  /** Checks arguments and structured output; undefined where there is no schema. What cannot be checked passes. */
  readonly input: Check | undefined
  readonly output: Check | undefined
  /** About how much memory it takes. */
  readonly weight: number
}

const MAX_TOOLS = 100_000
const MAX_WEIGHT = 67_108_864

/** The tools that a client has seen. */
export class ToolBook {
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
  add(shown: JsonObject): string | undefined {
    const name = String(shown['name'])
    const headers = paramHeadersOf(shown['inputSchema'])
    if ('problem' in headers) return headers.problem
    this.#weight -= this.#tools.get(name)?.weight ?? 0
    this.#tools.delete(name)
    const weight = name.length + weigh(shown['inputSchema']) + weigh(shown['outputSchema'])
    if (this.#tools.size >= MAX_TOOLS || this.#weight + weight > MAX_WEIGHT) return undefined
    this.#weight += weight
    const hints = (shown['annotations'] ?? {}) as JsonObject
    const repeatable = hints['idempotentHint'] === true || hints['readOnlyHint'] === true
    this.#tools.set(name, {
      paramHeaders: headers,
      repeatable,
      input: checkOf(shown['inputSchema'], 'input'),
      output: checkOf(shown['outputSchema'], 'output'),
      weight,
    })
    return undefined
  }
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
