import type {
  ContentBlock,
  CreateMessageRequestParams,
  ServerCapabilities,
  Tool,
} from '../../protocol/spec/2026-07-28.ts'
import type { Lowering } from '../lowering.ts'
import { changeMessages, omit } from '../reshape.ts'
import { clientLowering, lowerSampled } from './lower-client.ts'

/** From 2025-03-26 to 2024-11-05. */
export const lowering: Lowering = {
  ...clientLowering,
  /** Completions are not declared: this revision answers `completion/complete` without a capability. */
  capabilities: (value: ServerCapabilities) => omit(value, 'completions'),
  /** Annotations are dropped. */
  tool: (value: Tool) => omit(value, 'annotations'),
  /** Audio becomes an embedded resource with the URI `audio://inline/<n>`, where n is its index in the message. */
  content: lowerContent,
  /** Audio becomes text that names its type, because messages to the model may contain only text and images. */
  sample: (params: CreateMessageRequestParams) => changeMessages(params, lowerSampled),
}

function lowerContent(block: ContentBlock, index = 0): ContentBlock {
  if (block.type !== 'audio') return block
  const { mimeType, data, annotations } = block
  const resource = { uri: `audio://inline/${index}`, mimeType, blob: data }
  return annotations === undefined
    ? { type: 'resource', resource }
    : { type: 'resource', resource, annotations }
}
