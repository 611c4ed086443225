import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Conversation } from './conversation.ts'
import type { UnfinishedRequest } from './rounds.ts'

/** Gets the result of a request whose first result asks for input, or is a task. */
export async function finish(conversation: Conversation, request: UnfinishedRequest): Promise<JsonObject> {
  let { result } = request
  if (result['resultType'] === 'input_required') {
    const { finishRounds } = await import('./rounds.ts')
    result = await finishRounds(conversation.connection, request, (...asked) => conversation.answer(...asked))
  }
  if (result['resultType'] !== 'task' || request.options.asTask !== undefined) return result
  const { waitForTask } = await import('./tasks.ts')
  return waitForTask(conversation, { ...request, result })
}
