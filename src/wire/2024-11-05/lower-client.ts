import type {
  CreateMessageResult,
  ProgressNotificationParams,
  SamplingBlock,
  SamplingMessage,
} from '../../protocol/spec/2026-07-28.ts'
import type { ClientLowering } from '../lowering.ts'
import { change, omit } from '../reshape.ts'

/** What clients send, from 2025-03-26 to 2024-11-05. */
export const clientLowering: ClientLowering = {
  /** The message is dropped. */
  progress: (params: ProgressNotificationParams) => omit(params, 'message'),
  /** Audio becomes text that names its type. */
  sampleResult: lowerMessage<CreateMessageResult>,
}

export function lowerMessage<Value extends Pick<SamplingMessage, 'content'>>(message: Value): Value {
  return change(message, 'content', (content) => ('type' in content ? lowerBlock(content) : content))
}

function lowerBlock(block: SamplingBlock): SamplingBlock {
  return block.type === 'audio' ? { type: 'text', text: `[audio, ${block.mimeType}]` } : block
}
