import { copyOf } from '../base/copy-of.ts'
import type { CallOptions } from '../client/options.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { UNKNOWN_COMPLETION } from '../errors/server.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { DESCRIPTIONS } from '../protocol/meta.ts'
import type { Completer, Owner } from '../server/completion.ts'
import type { Context } from '../server/context.ts'
import type { ToolDefinition } from '../server/definitions.ts'
import type { List } from '../server/lists.ts'
import { isFor } from './declared.ts'
import { defineExtension, type Extension, type Remote } from './define.ts'
import type { Host } from './install.ts'
import { requireServed, type Requester } from './remote.ts'

/** Completers by tool, then by argument. An argument with an `enum` needs none. */
export type ToolCompleters = Readonly<Record<string, Readonly<Record<string, Completer>>>>

/** The values for an argument of a tool. */
export interface ToolCompletion {
  /** The best values first; at most 100. */
  readonly values: readonly string[]
  /** The description of each value, in the order of the values; null if it has none. */
  readonly descriptions?: readonly (string | null)[] | undefined
  /** How many values there are, if the server says so. */
  readonly total?: number | undefined
  /** Whether there are more values than these. */
  readonly hasMore?: boolean | undefined
}

/** Completion of tool arguments as a client asks for it: `toolCompletion.of(client)`. */
export interface ToolCompletionApi {
  /**
   * Values for an argument of a tool: its `name`, and as `value` the beginning that the user has typed. `known` contains the
   * arguments that are already filled in. Default: none.
   */
  complete(
    tool: string,
    argument: { readonly name: string; readonly value: string },
    known?: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<ToolCompletion>
}

const ID = 'dev.pierhead/completion'

/** Completion of tool arguments: `completion/complete` with `{ type: 'ref/tool', name }`. */
export const toolCompletion: Extension<ToolCompletionApi, ToolCompleters> = /* @__PURE__ */ defineExtension({
  id: ID,
  about:
    'Completion of tool arguments: `completion/complete` with the reference `{ type: "ref/tool", name }`.',
  serve: (completers: ToolCompleters | undefined, { service }: Host): void => {
    const own = readCompleters(completers ?? {})
    service.refs.set('ref/tool', (ref, context, peer) =>
      isFor(peer, ID) ? ownerOf(service.tools, own, ref, context) : undefined,
    )
  },
  client: (_remote: Remote<object>, client: Requester): ToolCompletionApi => ({
    async complete(tool, argument, known = {}, options = {}) {
      await requireServed(client, ID, 'completion/complete', options)
      const ref = { type: 'ref/tool', name: tool }
      const context = Object.keys(known).length === 0 ? {} : { context: { arguments: known } }
      const params = { ref, argument, ...context }
      const { idempotent = true } = options
      const result = await client.request('completion/complete', params, { ...options, idempotent })
      const { readCompletion } = await import('../client/completion.ts')
      const descriptions = (result['_meta'] as JsonObject | undefined)?.[DESCRIPTIONS]
      const described = Array.isArray(descriptions) ? { descriptions: descriptions as (string | null)[] } : {}
      return Object.assign(copyOf(readCompletion(result)), described) as unknown as ToolCompletion
    },
  }),
})

type Completers = ReadonlyMap<string, ReadonlyMap<string, Completer>>

function readCompleters(given: ToolCompleters): Completers {
  const byTool = Object.entries(given).map(([tool, byArgument]) => {
    const wrong = Object.entries(byArgument).find(([, completer]) => typeof completer !== 'function')
    if (wrong !== undefined) {
      const reason = `the completer of "${wrong[0]}" of "${tool}" is not a function`
      throw mcpError(BAD_OPTION, { where: 'toolCompletion', reason })
    }
    return [tool, new Map(Object.entries(byArgument))] as const
  })
  return new Map(byTool)
}

function ownerOf(
  tools: List<ToolDefinition>,
  completers: Completers,
  { name }: JsonObject,
  context: Context,
): Owner {
  const tool = typeof name === 'string' ? tools.find(name, context) : undefined
  if (tool === undefined) {
    const reason =
      typeof name === 'string' ? `there is no tool "${name.slice(0, 128)}"` : 'ref.name is not a string'
    throw mcpError(UNKNOWN_COMPLETION, { reason })
  }
  const properties = Object.entries((tool.input.json['properties'] ?? {}) as Record<string, unknown>)
  const listed = properties.flatMap(([argument, schema]) => {
    const values = (schema as JsonObject | null)?.['enum']
    return Array.isArray(values) ? [[argument, fromList(values)] as const] : []
  })
  const own = new Map([...listed, ...(completers.get(tool.key) ?? [])])
  return { key: tool.key, names: properties.map(([argument]) => argument), completers: own }
}

function fromList(values: readonly unknown[]): Completer {
  const texts = values.filter((value) => typeof value === 'string')
  return (begun) => texts.filter((text) => text.startsWith(begun))
}
