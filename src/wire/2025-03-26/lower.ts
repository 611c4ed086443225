import type {
  Annotations,
  CallToolResult,
  ContentBlock,
  CreateMessageRequestParams,
  Prompt,
  Resource,
  ResourceContents,
  ResourceLink,
  ResourceTemplate,
  TextContent,
  Tool,
} from '../../protocol/spec/2026-07-28.ts'
import { STRUCTURED } from '../../protocol/meta.ts'
import type { Lowering } from '../lowering.ts'
import { change, changeEach, changeMessages, omit } from '../reshape.ts'
import { clientLowering, lowerSampled, withoutDate } from './lower-client.ts'

/** From 2025-06-18 to 2025-03-26. */
export const lowering: Lowering = {
  ...clientLowering,
  /** The title moves to `annotations.title`; output schema and `_meta` are dropped. */
  tool: lowerTool,
  /** Title, `_meta` and `annotations.lastModified` are dropped. */
  resource: lowerNamed<Resource>,
  /** Title, `_meta` and `annotations.lastModified` are dropped. */
  template: lowerNamed<ResourceTemplate>,
  /** `_meta` and the titles of the prompt and its arguments are dropped. */
  prompt: lowerPrompt,
  /** A resource link becomes text that gives title, description and URI; `_meta` and `annotations.lastModified` are dropped. */
  content: lowerContent,
  /** `_meta` is dropped. */
  contents: lowerContents,
  /** Structured content is dropped; if there is no other content, its JSON becomes a text block. `_meta` says whether the text has it. */
  callResult: lowerCallResult,
  /** `_meta` and `annotations.lastModified` are dropped from messages. */
  sample: (params: CreateMessageRequestParams) => changeMessages(params, lowerSampled),
}

function lowerTool(tool: Tool): Tool {
  const { title } = tool
  const plain = omit(tool, 'title', 'outputSchema', '_meta')
  if (title === undefined || tool.annotations?.title !== undefined) return plain
  return { ...plain, annotations: { ...tool.annotations, title } }
}

function lowerNamed<Value extends { readonly annotations?: Annotations | undefined }>(value: Value): Value {
  return withoutDate(omit(value, 'title', '_meta'))
}

function lowerPrompt(prompt: Prompt): Prompt {
  return change(omit(prompt, 'title', '_meta'), 'arguments', (all) =>
    changeEach(all, (one) => omit(one, 'title')),
  )
}

function lowerContent(block: ContentBlock): ContentBlock {
  if (block.type === 'resource_link') return withoutDate(toText(block))
  const plain = withoutDate(omit(block, '_meta'))
  return plain.type === 'resource' ? change(plain, 'resource', lowerContents) : plain
}

function toText(link: ResourceLink): TextContent {
  const { title, name, description, uri, annotations } = link
  const text = [title ?? name, description, uri].filter((line) => line !== undefined).join('\n')
  return annotations === undefined ? { type: 'text', text } : { type: 'text', text, annotations }
}

function lowerContents(contents: ResourceContents): ResourceContents {
  return omit(contents, '_meta')
}

function lowerCallResult(result: CallToolResult): CallToolResult {
  const { structuredContent, _meta, ...plain } = result
  if (structuredContent === undefined) return result
  const { [STRUCTURED]: form, ...own } = _meta ?? {}
  const value =
    form === 'result' ? (structuredContent as { readonly result: unknown }).result : structuredContent
  const content: readonly ContentBlock[] =
    plain.content.length > 0 ? plain.content : [{ type: 'text', text: JSON.stringify(value) }]
  const meta = repeats(content, value) ? { ...own, [STRUCTURED]: 'text' } : own
  return { ...plain, content, ...(Object.keys(meta).length > 0 && { _meta: meta }) }
}

/** Whether the only block is a text that begins like the JSON of a value. Handlers may write another text instead. */
function repeats(content: readonly ContentBlock[], value: unknown): boolean {
  const [block] = content
  if (content.length > 1 || block?.type !== 'text') return false
  if (typeof value !== 'object' || value === null) return block.text === JSON.stringify(value)
  return block.text.startsWith(Array.isArray(value) ? '[' : '{')
}
