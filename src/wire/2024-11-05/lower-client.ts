import type {
  CreateMessageResult,
  ProgressNotificationParams,
  SamplingBlock,
} from '../../protocol/spec/2026-07-28.ts'
import type { ClientLowering } from '../lowering.ts'
import { changeBlocks, omit } from '../reshape.ts'

/** What clients send, from 2025-03-26 to 2024-11-05. */
export const clientLowering: ClientLowering = {
  /** The message is dropped. */
  progress: (params: ProgressNotificationParams) => omit(params, 'message'),
  /** Audio becomes text that names its type. */
  sampleResult: (result: CreateMessageResult) => changeBlocks(result, lowerSampled),
}

export function lowerSampled(block: SamplingBlock): SamplingBlock {
  return block.type === 'audio' ? { type: 'text', text: `[audio, ${block.mimeType}]` } : block
}
