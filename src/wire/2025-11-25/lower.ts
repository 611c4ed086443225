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

/** A task in the names of 2025-11-25. */
function lowerTask(task: JsonObject): JsonObject {
  if (!('ttlMs' in task)) return task
  const { ttlMs: ttl, pollIntervalMs: pollInterval, inputRequests: _1, result: _2, error: _3, ...rest } = task
  return { ...rest, ttl, ...(pollInterval === undefined ? {} : { pollInterval }) }
}

function lowerTool(given: Tool): Tool {
  const support = (given as { readonly [TASK_SUPPORT]?: 'optional' | 'required' })[TASK_SUPPORT]
  const tool = support === undefined ? given : { ...given, execution: { taskSupport: support } }
  const lowered = change(tool, 'outputSchema', toObjectSchema)
  return change(lowered, 'inputSchema', (schema) => withSchemaObjects<ObjectSchema>(schema))
}

function lowerCallResult(result: CallToolResult): CallToolResult {
  const { resultType, _meta, ...task } = result as CallToolResult & { readonly resultType?: string }
  if (resultType === 'task')
    return { task: lowerTask(task), ...(_meta === undefined ? {} : { _meta }) } as unknown as CallToolResult
  const wrapped = wrapStructured(result)
  return wrapped === result ? result : { ...wrapped, _meta: { ...result._meta, [STRUCTURED]: 'result' } }
}

function lowerSample(params: CreateMessageRequestParams): CreateMessageRequestParams {
  const lowered = change(params, 'tools', (tools) => changeEach(tools, lowerTool))
  return changeMessages(lowered, lowerSampled)
}
