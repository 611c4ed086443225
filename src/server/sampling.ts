import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { text } from '../protocol/content.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Dialect } from '../protocol/switches.ts'
import { isRole } from './roles.ts'
import type { SampleBlock, SampleMessage, SampleParams } from './ask.ts'

/** The default limit of tokens in the model's answer. */
const DEFAULT_MAX_TOKENS = 1024
const PRIORITIES = ['costPriority', 'speedPriority', 'intelligencePriority'] as const

/** The params of a sampling request on the wire, checked against the rules of the protocol. */
export function checkSampling(
  params: SampleParams,
  dialect: Dialect,
): JsonObject & { readonly includeContext?: string | undefined } {
  const { maxTokens = DEFAULT_MAX_TOKENS, modelPreferences = {}, temperature = 0 } = params
  if (!Number.isInteger(maxTokens) || maxTokens < 1) throw badSampling('maxTokens must be a positive integer')
  if (dialect.temperature === 'checked' && !(temperature >= 0 && temperature <= 2))
    throw badSampling('temperature must be between 0 and 2')
  if (!Array.isArray(params.messages))
    throw badSampling(`messages must be a list, such as [{ role: 'user', content: '…' }]`)
  const odd = params.messages.find(({ role }) => !isRole(role, dialect))
  if (odd !== undefined)
    throw badSampling(
      `a message has the role "user" or "assistant", not "${odd.role}"; put instructions for the model into systemPrompt`,
    )
  for (const name of PRIORITIES) {
    const priority = modelPreferences[name]
    if (priority !== undefined && !(Number(priority) >= 0 && Number(priority) <= 1))
      throw badSampling(`modelPreferences.${name} must be between 0 and 1`)
  }
  const messages = params.messages.map((message) => ({ role: message.role, content: toContent(message) }))
  let open: readonly string[] = []
  for (const { role, content } of messages) {
    const blocks = Array.isArray(content) ? (content as readonly SampleBlock[]) : [content as SampleBlock]
    const results = blocks.filter((block) => block.type === 'tool_result')
    if (results.length > 0 && results.length < blocks.length)
      throw badSampling('a message with tool results must not contain anything else')
    const answered = new Set(results.map((block) => String((block as JsonObject)['toolUseId'])))
    const missing = open.find((id) => !answered.has(id))
    if (missing !== undefined)
      throw badSampling(`the tool use "${missing}" is not answered by the next message`)
    open =
      role === 'assistant'
        ? blocks
            .filter((block) => block.type === 'tool_use')
            .map((block) => String((block as JsonObject)['id']))
        : []
  }
  if (open.length > 0) throw badSampling(`the tool use "${open[0]}" is not answered by the next message`)
  return { ...params, messages, maxTokens }
}

function toContent({ content }: SampleMessage): unknown {
  return typeof content === 'string' ? text(content) : content
}

function badSampling(reason: string): Error {
  return mcpError(BAD_OPTION, { where: 'ctx.sample', reason })
}
