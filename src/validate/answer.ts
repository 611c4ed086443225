import { sampleOf } from './sample.ts'
import { isObject, member, type Message } from './message.ts'

/** Answers a question of the server without a person. */
export function usualAnswer(method: string, params: unknown): Message | undefined {
  if (method === 'roots/list') return { roots: [{ uri: 'file:///tmp', name: 'tmp' }] }
  if (method === 'sampling/createMessage')
    return {
      role: 'assistant',
      content: { type: 'text', text: 'validated' },
      model: 'validator',
      stopReason: 'endTurn',
    }
  if (method !== 'elicitation/create') return undefined
  if (member(params, 'mode') === 'url') return { action: 'accept' }
  const schema = member(params, 'requestedSchema')
  return { action: 'accept', content: isObject(schema) ? sampleOf(schema) : {} }
}
