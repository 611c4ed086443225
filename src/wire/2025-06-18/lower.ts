import type {
  ContentBlock,
  Prompt,
  Resource,
  ResourceTemplate,
  ServerCapabilities,
  Tool,
} from '../../protocol/spec/2026-07-28.ts'
import type { Lowering } from '../lowering.ts'
import { omit } from '../reshape.ts'
import { lowerForm, raiseAnswer } from './form.ts'
import { clientLowering } from './lower-client.ts'
import { lowerSample } from './sampling.ts'

/** From 2025-11-25 to 2025-06-18. */
export const lowering: Lowering = {
  ...clientLowering,
  /** Requests to visit a URL are not supported. */
  supportsUrl: false,
  /** Tasks and extensions are not declared. */
  capabilities: (value: ServerCapabilities) => omit(value, 'tasks', 'extensions'),
  /** Icons and `execution` are dropped. */
  tool: (value: Tool) => omit(value, 'icons', 'execution'),
  /** Icons are dropped. */
  resource: (value: Resource) => omit(value, 'icons'),
  /** Icons are dropped. */
  template: (value: ResourceTemplate) => omit(value, 'icons'),
  /** Icons are dropped. */
  prompt: (value: Prompt) => omit(value, 'icons'),
  /** Icons of a resource link are dropped. */
  content: (block: ContentBlock) => (block.type === 'resource_link' ? omit(block, 'icons') : block),
  /** Defaults are dropped, except those of booleans; titled options become `enum` with `enumNames`; a multiple choice becomes one boolean per option. */
  elicit: lowerForm,
  /** The booleans of a multiple choice become the list of chosen options. */
  elicitAnswer: raiseAnswer,
  /** Tools are dropped, tool calls and tool results become text, and a message with several blocks becomes several messages. */
  sample: lowerSample,
}
