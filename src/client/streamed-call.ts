import type { JsonObject } from '../protocol/jsonrpc.ts'
import { STREAMED_CALL } from '../protocol/meta.ts'
import { Clock } from '../rpc/clock.ts'
import { checkInput } from './check-input.ts'
import type { Conversation } from './conversation.ts'
import type { CallOptions } from './options.ts'
import { checkResult } from './results.ts'

/** Sends a streamed call; its input and its result are checked as those of `tools/call`. */
export async function callStreamed(
  conversation: Conversation,
  params: JsonObject,
  options: CallOptions,
): Promise<JsonObject> {
  const clock = new Clock()
  const name = String(params['name'])
  const input = (params['arguments'] ?? {}) as JsonObject
  const refresh = (): Promise<void> => conversation.refreshTools(options, clock)
  if (conversation.checks) await checkInput(conversation.known, { name, arguments: input }, refresh)
  const result = await conversation.send(STREAMED_CALL, params, options, { undeclared: true, clock })
  return conversation.checkOutput(name, checkResult('tools/call', result))
}
