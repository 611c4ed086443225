import { BAD_ANSWER } from '../errors/client.ts'
import { mcpError } from '../errors/error.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { weighKept } from '../base/weight.ts'
import { paramHeadersOf, toParamHeaders } from '../wire/param-headers.ts'
import type { PatternTime } from '../schema/peer-size.ts'
import type { Check } from './checking.ts'
import { itemWeights } from './lists.ts'

/** Creates the headers that repeat arguments of a call. */
export type ParamHeaders = (args: unknown) => Readonly<Record<string, string>>

/** The parts of a listed tool that calls need. */
export interface KnownTool {
  /** Undefined if no argument is sent as a header. */
  readonly paramHeaders: ParamHeaders | undefined
  /** Whether a call may be repeated. */
  readonly repeatable: boolean
  /** Check arguments and structured output; undefined if there is no schema. */
  readonly input: Check | undefined
  readonly output: Check | undefined
  readonly outputSchema: unknown
  /** Whether a call may or must be a task at 2025-11-25. */
  readonly taskSupport: 'optional' | 'required' | undefined
  /** The params that each call needs. */
  readonly added: JsonObject | undefined
  /** Rejects a result that does not match the output schema. */
  readonly checkResult: (result: JsonObject) => Promise<void>
  /** Approximate memory use, in bytes. */
  readonly weight: number
}

const MAX_TOOLS = 100_000
const MAX_WEIGHT = 67_108_864
/** Approximate memory use of one rule about a param header, without the names on the way to it. */
const RULE_WEIGHT = 200
const MAX_WARNINGS = 1000
const MAX_WARNING = 1024

/** The tools that the client has listed. */
export class KnownTools {
  readonly #tools: Map<string, KnownTool>
  readonly #warn: (text: string) => void
  /** The warnings so far. */
  readonly #warned = new Set<string>()
  #weight = 0
  /** What the server may take to analyse its patterns: new tools do not give it more. */
  readonly #time: PatternTime = { left: 500, at: 0 }

  /** `warn` receives each reason for not checking an output once. The tools are kept in `tools`. */
  constructor(warn: (text: string) => void = () => undefined, tools: Map<string, KnownTool> = new Map()) {
    this.#warn = warn
    this.#tools = tools
  }

  get(name: string): KnownTool | undefined {
    return this.#tools.get(name)
  }

  clear(): void {
    this.#tools.clear()
    this.#weight = 0
  }

  /** Remembers a listed tool. If its param headers are invalid, it returns the reason instead. */
  add(descriptor: JsonObject): string | undefined {
    const name = String(descriptor['name'])
    const { inputSchema, outputSchema } = descriptor
    const rules = paramHeadersOf(inputSchema)
    if ('problem' in rules) return rules.problem
    this.#weight -= this.#tools.get(name)?.weight ?? 0
    this.#tools.delete(name)
    const own = itemWeights.get(descriptor) ?? weighKept([name, inputSchema, outputSchema])
    const weight = rules.reduce((sum, { path }) => sum + RULE_WEIGHT + 8 * path.length, own)
    if (this.#tools.size >= MAX_TOOLS || this.#weight + weight > MAX_WEIGHT) {
      this.#warnOnce('the server has too many tools to check what they return')
      return undefined
    }
    this.#weight += weight
    const hints = (descriptor['annotations'] ?? {}) as JsonObject
    const { taskSupport } = (descriptor['execution'] ?? {}) as JsonObject
    const repeatable = hints['idempotentHint'] === true || hints['readOnlyHint'] === true
    const output = checkOf(outputSchema, 'output', this.#time, (reason) =>
      this.#warnOnce(`the output of the tool "${name.slice(0, 128)}" is not checked: ${reason}`),
    )
    this.#tools.set(name, {
      paramHeaders:
        rules.length === 0 ? undefined : (args) => Object.fromEntries(toParamHeaders(rules, args)),
      repeatable,
      input: checkOf(inputSchema, 'input', this.#time),
      outputSchema,
      taskSupport: taskSupport === 'required' || taskSupport === 'optional' ? taskSupport : undefined,
      added: taskSupport === 'required' ? { task: {} } : undefined,
      output,
      checkResult: async ({ isError, structuredContent }) => {
        const checked = isError === true ? undefined : await output?.(structuredContent)
        if (checked?.ok === false)
          throw mcpError(BAD_ANSWER, { method: `the tool "${name}"`, issue: checked.issue })
      },
      weight,
    })
    return undefined
  }

  #warnOnce(reason: string): void {
    // A copy, because a part of a text keeps the whole text in memory.
    const text = JSON.parse(JSON.stringify(reason.slice(0, MAX_WARNING))) as string
    if (this.#warned.has(text) || this.#warned.size >= MAX_WARNINGS) return
    this.#warned.add(text)
    this.#warn(text)
  }
}

function checkOf(
  schema: unknown,
  side: 'input' | 'output',
  time: PatternTime,
  onUnchecked?: (reason: string) => void,
): Check | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  let check: Promise<Check> | undefined
  return async (value) => {
    check ??= load(schema as JsonObject, side, time).catch((error: unknown) => {
      check = undefined
      throw error
    })
    const checked = await (await check)(value)
    if (checked.unchecked !== undefined) onUnchecked?.(checked.unchecked)
    return checked
  }
}

/** The schema engine is larger than the rest of the client, so it is loaded with the first tool that needs it. */
async function load(schema: JsonObject, side: 'input' | 'output', time: PatternTime): Promise<Check> {
  return (await import('./checking.ts')).toCheck(schema, side, time)
}
