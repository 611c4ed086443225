import type {
  ClientCapabilities,
  ContentBlock,
  Implementation,
  Prompt,
  Resource,
  ResourceTemplate,
  ServerCapabilities,
  Tool,
} from '../../protocol/spec/2026-07-28.ts'
import type { Lowering } from '../lowering.ts'
import { change, omit } from '../reshape.ts'
import { lowerForm, raiseAnswer } from './form.ts'
import { lowerSample, lowerSampleResult } from './sampling.ts'

/** From 2025-11-25 to 2025-06-18. */
export const lowering: Lowering = {
  /** Requests to visit a URL are not supported. */
  supportsUrl: false,
  /** Only name, version and title are kept. */
  implementation: (value: Implementation) => omit(value, 'description', 'websiteUrl', 'icons'),
  /** Tasks and extensions are not declared. */
  capabilities: (value: ServerCapabilities) => omit(value, 'tasks', 'extensions'),
  /** The members of sampling and elicitation are dropped; elicitation is declared only if forms are supported. */
  clientCapabilities: lowerClient,
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
  /** Text blocks are joined into one; otherwise the first block is the answer. */
  sampleResult: lowerSampleResult,
}

function lowerClient(value: ClientCapabilities): ClientCapabilities {
  const { elicitation } = value
  const rest = omit(value, 'tasks', 'extensions')
  const plain = change(rest, 'sampling', (declared) => omit(declared, 'tools', 'context'))
  if (elicitation === undefined) return plain
  const urlOnly = elicitation.url !== undefined && elicitation.form === undefined
  return urlOnly
    ? omit(plain, 'elicitation')
    : change(plain, 'elicitation', (declared) => omit(declared, 'form', 'url'))
}
