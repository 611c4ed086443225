import { isObject, member, type Message } from '../../src/validate/message.ts'
import { CLIENT_CAPABILITIES } from '../../src/validate/session.ts'

/** Changes the capabilities that a message declares, where it does. */
export function declaring(message: Message, change: (capabilities: Message) => Message): Message {
  const { params } = message
  if (!isObject(params)) return message
  const { capabilities, _meta: meta } = params
  if (isObject(capabilities)) return { ...message, params: { ...params, capabilities: change(capabilities) } }
  const declared = member(meta, CLIENT_CAPABILITIES)
  if (!isObject(meta) || !isObject(declared)) return message
  return { ...message, params: { ...params, _meta: { ...meta, [CLIENT_CAPABILITIES]: change(declared) } } }
}

/** Changes the answers to questions: results, and the answers in a repeated request. */
export function answering(message: Message, change: (answer: Message) => Message): Message {
  const { result, params } = message
  if (isObject(result)) return { ...message, result: change(result) }
  const answers = member(params, 'inputResponses')
  if (!isObject(params) || !isObject(answers)) return message
  const changed = Object.entries(answers).map(([key, one]) => [key, isObject(one) ? change(one) : one])
  return { ...message, params: { ...params, inputResponses: Object.fromEntries(changed) as Message } }
}
