import type {
  AudioContent,
  ContentBlock,
  CreateMessageRequestParams,
  CreateMessageResult,
  ImageContent,
  SamplingBlock,
  SamplingMessage,
  TextContent,
} from '../../protocol/spec/2026-07-28.ts'
import { omit } from '../reshape.ts'

type PlainBlock = TextContent | ImageContent | AudioContent

/** A sampling request without tools and with one block per message. */
export function lowerSample(params: CreateMessageRequestParams): CreateMessageRequestParams {
  const plain = omit(params, 'tools', 'toolChoice', 'task')
  if (params.messages.every(isPlain)) return plain
  return { ...plain, messages: params.messages.flatMap(toPlainMessages) }
}

/** The model's answer as one block. */
export function lowerSampleResult(result: CreateMessageResult): CreateMessageResult {
  if ('type' in result.content && isPlainBlock(result.content)) return result
  const plain = blocksOf(result.content).flatMap(toPlainBlocks)
  const texts = plain.filter((block) => block.type === 'text')
  const joined: PlainBlock = { type: 'text', text: texts.map((block) => block.text).join('\n\n') }
  const first = plain[0] ?? joined
  return { ...result, content: plain.length > 1 && texts.length === plain.length ? joined : first }
}

function isPlain(message: SamplingMessage): boolean {
  return 'type' in message.content && isPlainBlock(message.content) && message._meta === undefined
}

function isPlainBlock(block: SamplingBlock): block is PlainBlock {
  return block.type !== 'tool_use' && block.type !== 'tool_result'
}

function toPlainMessages(message: SamplingMessage): readonly SamplingMessage[] {
  if (isPlain(message)) return [message]
  const plain = blocksOf(message.content).flatMap(toPlainBlocks)
  return plain.map((content) => ({ role: message.role, content }))
}

function blocksOf(content: SamplingMessage['content']): readonly SamplingBlock[] {
  return 'type' in content ? [content] : content
}

function toPlainBlocks(block: SamplingBlock): readonly PlainBlock[] {
  if (block.type === 'tool_use') return [text(`Tool call: ${block.name} ${JSON.stringify(block.input)}`)]
  if (block.type !== 'tool_result') return [block]
  const label = block.isError === true ? 'Tool error' : 'Tool result'
  const structured = block.structuredContent === undefined ? '' : JSON.stringify(block.structuredContent)
  const parts = block.content.map(toPlainBlock)
  const words = parts.filter((part) => part.type === 'text').map((part) => part.text)
  const others = parts.filter((part) => part.type !== 'text')
  return [text(`${label}: ${words.length === 0 ? structured : words.join('\n')}`), ...others]
}

function toPlainBlock(block: ContentBlock): PlainBlock {
  if (block.type === 'resource_link') return text(`${block.title ?? block.name}: ${block.uri}`)
  if (block.type !== 'resource') return block
  const { resource } = block
  return text('text' in resource ? resource.text : resource.uri)
}

function text(words: string): TextContent {
  return { type: 'text', text: words }
}
