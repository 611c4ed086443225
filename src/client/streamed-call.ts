import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Clock } from '../rpc/clock.ts'
import { checkInput } from './check-input.ts'
import type { Conversation } from './conversation.ts'
import type { CallOptions } from './options.ts'
import { checkResult } from './results.ts'

/** Sends a streamed call; its input and its result are checked as those of `tools/call`. */
export async function checkStreamed(
  conversation: Conversation,
  params: JsonObject,
  options: CallOptions,
  clock: Clock,
  send: () => Promise<JsonObject>,
): Promise<JsonObject> {
  const name = String(params['name'])
  const input = (params['arguments'] ?? {}) as JsonObject
  const refresh = (): Promise<void> => conversation.refreshTools(options, clock)
  if (conversation.checks) await checkInput(conversation.known, { name, arguments: input }, refresh)
  return conversation.checkOutput(name, checkResult('tools/call', await send()))
}
