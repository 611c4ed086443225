import { isContentBlock, text } from '../protocol/content.ts'
import { mcpError } from '../errors/error.ts'
import { PROMPT_ARGUMENTS, UNKNOWN_PROMPT } from '../errors/server.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import type { Dialect } from '../protocol/switches.ts'
import type { Result } from '../rpc/dispatch.ts'
import { holdChecked } from './hold-checked.ts'
import { issueExtras } from './argument-issue.ts'
import { callOf, type Context } from './context.ts'
import type { PromptDefinition } from './definitions.ts'
import type { List } from './lists.ts'
import { isRole } from './roles.ts'
import { rethrown, settled } from './settle.ts'
import { argumentsOddity } from './string-arguments.ts'
import { unknownName } from './unknown-name.ts'

/** `prompts/get`: finds the prompt, checks its arguments, runs it and builds the result. */
export async function getPrompt(prompts: List<PromptDefinition>, context: Context): Promise<Result> {
  const prompt = findPrompt(prompts, context.params['name'], context)
  const args = readArguments(prompt, context)
  const checked =
    prompt.args === undefined ? { ok: true as const, value: args } : await prompt.args.check(args)
  if (!checked.ok) {
    const facts = { name: prompt.key, issue: checked.issue }
    throw mcpError(
      PROMPT_ARGUMENTS,
      facts,
      issueExtras(checked.first, { value: args, dialect: callOf(context).peer.dialect }),
    )
  }
  // The check may have taken a while.
  callOf(context).throwIfAborted()
  holdChecked(checked, context)
  return settled(context, async () => {
    const shaped = await rethrown(context, `prompt "${prompt.key}"`, async () =>
      toMessages(await prompt.run(checked.value, context), context),
    )
    const { description } = prompt.descriptor
    return { ...(description === undefined ? {} : { description }), ...shaped }
  })
}

/** The prompt with this name, if the caller may use it. */
export function findPrompt(
  prompts: List<PromptDefinition>,
  name: unknown,
  context: Context,
): PromptDefinition {
  if (typeof name !== 'string') {
    throw mcpError(BAD_PARAMS, {
      method: context.method,
      reason: 'the name of the prompt is not a string',
    })
  }
  const prompt = prompts.find(name, context)
  if (prompt === undefined) throw unknownName(UNKNOWN_PROMPT, name, prompts, context)
  return prompt
}

function readArguments({ argNames }: PromptDefinition, context: Context): JsonObject {
  const given = context.params['arguments'] ?? {}
  const oddity = argumentsOddity(given, argNames)
  if (oddity === undefined) return given as JsonObject
  throw mcpError(BAD_PARAMS, { method: 'prompts/get', reason: `arguments ${oddity}` })
}

function toMessages(value: unknown, context: Context): JsonObject {
  const { dialect } = callOf(context).peer
  const shaped = (one: unknown): JsonObject => toMessage(one, dialect)
  const messages = isObject(value) ? value['messages'] : undefined
  if (Array.isArray(messages)) return { ...(value as JsonObject), messages: messages.map(shaped) }
  return { messages: (Array.isArray(value) ? value : [value]).map(shaped) }
}

function toMessage(value: unknown, dialect: Dialect): JsonObject {
  if (typeof value === 'string') return { role: 'user', content: text(value) }
  if (isContentBlock(value)) return { role: 'user', content: value }
  const { role, content } = (value ?? {}) as { role?: unknown; content?: unknown }
  const block = typeof content === 'string' ? text(content) : content
  if (isRole(role, dialect) && isContentBlock(block)) return { ...(value as object), content: block }
  throw new TypeError(
    'a prompt must return text, content, or messages with role "user" or "assistant" and content',
  )
}
