import type { JsonObject } from '../protocol/jsonrpc.ts'
import { toChecker, type Checker } from '../schema/checker.ts'
import { paramHeadersOf, type ParamHeader } from '../wire/param-headers.ts'

/** What is known of a tool from the list it was seen in. */
export interface KnownTool {
  readonly shown: JsonObject
  readonly paramHeaders: readonly ParamHeader[]
  /** Whether a call may be repeated. */
  readonly repeatable: boolean
  /** Checks structured output; undefined when the tool has no output schema or one that cannot be used. */
  readonly output: Checker | undefined
}

const MAX_TOOLS = 100_000

/** The tools that a client has seen. */
export class ToolBook {
  readonly #tools = new Map<string, KnownTool>()

  get(name: string): KnownTool | undefined {
    return this.#tools.get(name)
  }

  forget(): void {
    this.#tools.clear()
  }

  /** Takes a tool from a list. Returns why it cannot be used where headers repeat arguments. */
  add(shown: JsonObject): string | undefined {
    const name = String(shown['name'])
    const headers = paramHeadersOf(shown['inputSchema'])
    if ('problem' in headers) return headers.problem
    if (this.#tools.size >= MAX_TOOLS) return undefined
    const hints = (shown['annotations'] ?? {}) as JsonObject
    const repeatable = hints['idempotentHint'] === true || hints['readOnlyHint'] === true
    this.#tools.set(name, {
      shown,
      paramHeaders: headers,
      repeatable,
      output: outputOf(shown['outputSchema']),
    })
    return undefined
  }
}

function outputOf(schema: unknown): Checker | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  let checker: Checker | undefined
  let unusable = false
  return {
    get json() {
      return schema as JsonObject
    },
    check(value) {
      if (checker === undefined && !unusable) {
        try {
          checker = toChecker(schema as JsonObject, 'output')
        } catch {
          unusable = true
        }
      }
      return checker === undefined ? { ok: true, value } : checker.check(value)
    },
  }
}
