import { storedIn } from '../../base/stored-member.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import { STRUCTURED, TASK_SUPPORT } from '../../protocol/meta.ts'
import type {
  CallToolResult,
  CreateMessageRequestParams,
  ObjectSchema,
  Tool,
} from '../../protocol/spec/2026-07-28.ts'
import type { Lowering } from '../lowering.ts'
import { change, changeEach, changeMessages, omit } from '../reshape.ts'
import { clientLowering, lowerSampled, wrapStructured } from './lower-client.ts'
import { toObjectSchema, withSchemaObjects } from './output-schema.ts'

/** From 2026-07-28 to 2025-11-25. */
export const lowering: Lowering = {
  ...clientLowering,
  /** An output schema that does not describe objects becomes the schema of `{ result }`; property schemas `true` and `false` become objects. */
  tool: lowerTool,
  /** Structured content that is not an object becomes `{ result }`; `_meta` says so. */
  callResult: lowerCallResult,
  /** The durations of a task get other names; what goes with its status is dropped. */
  task: lowerTask,
  /** Caching hints are dropped. */
  hints: (value) => omit(value, 'ttlMs', 'cacheScope'),
  /** The same rules apply to tools and tool results inside a sampling request. */
  sample: lowerSample,
}

/** The members of a task that 2025-11-25 calls something else, or does not have. */
const TASK_NAMES: ReadonlyMap<string, string | undefined> = new Map([
  ['ttlMs', 'ttl'],
  ['pollIntervalMs', 'pollInterval'],
  ['inputRequests', undefined],
  ['result', undefined],
  ['error', undefined],
])
/** The same for a task that is the result of a call. */
const HANDLE_NAMES: typeof TASK_NAMES = new Map([
  ...TASK_NAMES,
  ['resultType', undefined],
  ['_meta', undefined],
])

/** A task in the names of 2025-11-25. */
function lowerTask(task: JsonObject): JsonObject {
  return 'ttlMs' in task ? rename(task, TASK_NAMES) : task
}

/** Much faster than to copy the rest of an object. */
function rename(value: JsonObject, names: typeof TASK_NAMES): JsonObject {
  const renamed: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    const own = names.has(name) ? names.get(name) : name
    if (own !== undefined && value[name] !== undefined) renamed[own] = value[name]
  }
  return renamed
}

function lowerTool(given: Tool): Tool {
  const support = (given as { readonly [TASK_SUPPORT]?: 'optional' | 'required' })[TASK_SUPPORT]
  const tool = support === undefined ? given : { ...given, execution: { taskSupport: support } }
  const lowered = change(tool, 'outputSchema', toObjectSchema)
  return change(lowered, 'inputSchema', (schema) => withSchemaObjects<ObjectSchema>(schema))
}

function lowerCallResult(result: CallToolResult): CallToolResult {
  const { resultType, _meta } = result as CallToolResult & { readonly resultType?: string }
  if (resultType === 'task') {
    const task = rename(result as unknown as JsonObject, HANDLE_NAMES)
    return { task, ...(_meta === undefined ? {} : { _meta }) } as unknown as CallToolResult
  }
  // A long one whose text is known need not be parsed.
  if (storedIn(result)?.get('structuredContent')?.startsWith('{') === true) return result
  const wrapped = wrapStructured(result)
  return wrapped === result ? result : { ...wrapped, _meta: { ...result._meta, [STRUCTURED]: 'result' } }
}

function lowerSample(params: CreateMessageRequestParams): CreateMessageRequestParams {
  const lowered = change(params, 'tools', (tools) => changeEach(tools, lowerTool))
  return changeMessages(lowered, lowerSampled)
}
