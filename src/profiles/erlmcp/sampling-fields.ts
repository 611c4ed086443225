import type { JsonObject } from '../../protocol/jsonrpc.ts'
import { STOP_REASONS } from '../../protocol/stop-reasons.ts'
import type { CreateAdapter } from '../adapter.ts'

const SHORT: ReadonlyMap<unknown, string> = new Map(
  [...STOP_REASONS].map(([short, long]) => [long, short] as const),
)

/** Writes `system` next to `systemPrompt`, stop reasons in snake case, and content as a list; both forms are always understood. */
export const samplingFields: CreateAdapter = (choices) => {
  if (choices.samplingFields !== 'short') return undefined
  return {
    encodeRequest: (method, params) => (method === 'sampling/createMessage' ? withSystem(params) : params),
    encodeResult: (method, result) => (method === 'sampling/createMessage' ? toShort(result) : result),
  }
}

function withSystem(params: JsonObject): JsonObject {
  const { systemPrompt } = params
  return systemPrompt === undefined ? params : { ...params, system: systemPrompt }
}

function toShort(result: JsonObject): JsonObject {
  const { content, stopReason } = result
  const stopped = stopReason === undefined ? {} : { stopReason: SHORT.get(stopReason) ?? stopReason }
  return {
    ...result,
    content: Array.isArray(content) ? (content as readonly unknown[]) : [content],
    ...stopped,
  }
}
