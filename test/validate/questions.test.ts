import { expect, test } from 'vitest'
import { formProblem, sensitiveField } from '../../src/validate/server-rules/form-schema.ts'
import { QUESTION_RULES } from '../../src/validate/server-rules/questions.ts'
import { isObject, member, type Message } from '../../src/validate/message.ts'
import { inError, type Fault } from './fault.ts'
import { prove } from './prove.ts'

/** Changes the parameters of what the server asks, in requests and in results. */
function inQuestion(method: string, change: (params: Message) => Message): NonNullable<Fault['message']> {
  const changed = (question: Message): Message =>
    question['method'] === method
      ? { ...question, params: change((question['params'] ?? {}) as Message) }
      : question
  return (message) => {
    const asked = member(message, 'result', 'inputRequests')
    if (!isObject(asked)) return 'method' in message ? changed(message) : message
    const inputRequests = Object.fromEntries(
      Object.entries(asked).map(([key, one]) => [key, changed(one as Message)]),
    )
    return { ...message, result: { ...(message['result'] as Message), inputRequests } }
  }
}

/** Asks with a form that has this field. */
function withField(name: string, field: Message): NonNullable<Fault['message']> {
  return inQuestion('elicitation/create', (params) => ({
    ...params,
    requestedSchema: { type: 'object', properties: { [name]: field } },
  }))
}

/** Asks the model with these messages. */
function withMessages(...messages: readonly Message[]): NonNullable<Fault['message']> {
  return inQuestion('sampling/createMessage', (params) => ({ ...params, messages }))
}

const USE = { role: 'assistant', content: [{ type: 'tool_use', id: 'u1', name: 'x', input: {} }] }
const RESULT = { type: 'tool_result', toolUseId: 'u1', content: [] }
const URL_QUESTION = { mode: 'url', url: 'https://example.com', elicitationId: 'e1', message: 'x' }

const FAULTS: readonly Fault[] = [
  {
    rule: 'R205',
    does: 'gives every model tools',
    message: inQuestion('sampling/createMessage', (params) => ({
      ...params,
      tools: [{ name: 'x', inputSchema: { type: 'object' } }],
    })),
  },
  { rule: 'R206', does: 'leaves the use of a tool open', message: withMessages(USE) },
  {
    rule: 'R206',
    does: 'mixes results and text',
    message: withMessages(USE, { role: 'user', content: [RESULT, { type: 'text', text: 'x' }] }),
  },
  {
    rule: 'R207',
    does: 'asks for an object',
    message: withField('name', { type: 'object', properties: { first: { type: 'string' } } }),
  },
  {
    rule: 'R207',
    does: 'asks for a list of texts',
    message: withField('names', { type: 'array', items: { type: 'string' } }),
  },
  { rule: 'R208', does: 'asks for a password', message: withField('password', { type: 'string' }) },
  {
    rule: 'R209',
    does: 'opens pages at every client',
    message: inQuestion('elicitation/create', () => URL_QUESTION),
  },
  {
    rule: 'R216',
    does: 'says -32042 without elicitations',
    message: inError(-32_601, (error) => ({ ...error, code: -32_042 })),
  },
  {
    rule: 'R216',
    does: 'lists forms in -32042',
    message: inError(-32_601, (error) => ({
      ...error,
      code: -32_042,
      data: { elicitations: [{ mode: 'form', message: 'x', requestedSchema: {} }] },
    })),
  },
]

/** Servers that are right in another way. */
const VARIANTS: readonly Fault[] = [
  {
    rule: 'R206',
    does: 'answers the use of a tool',
    message: withMessages(USE, { role: 'user', content: [RESULT] }),
  },
  {
    rule: 'R207',
    does: 'offers choices',
    message: withField('ship', { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] }),
  },
  {
    rule: 'R207',
    does: 'offers lists of choices',
    revisions: ['2025-11-25', '2026-07-28'],
    message: withField('ships', { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } }),
  },
  {
    rule: 'R216',
    does: 'lists pages in -32042',
    message: inError(-32_601, (error) => ({
      ...error,
      code: -32_042,
      data: { elicitations: [URL_QUESTION] },
    })),
  },
]

prove('Questions', QUESTION_RULES, FAULTS, VARIANTS)

test('names of secrets are told from other names', () => {
  const found = (names: readonly string[]): readonly string[] =>
    names.filter((name) => sensitiveField({ type: 'object', properties: { [name]: { type: 'string' } } }))
  const secrets = ['password', 'apiKey', 'API key', 'credit_card', 'PIN', 'access_token', 'client secret']
  expect(found(secrets)).toEqual(secrets)
  expect(found(['name', 'secretary', 'shipping', 'spinner', 'token_count', 'key', 'passenger'])).toEqual([])
})

test('a form has properties, and a choice needs no type', () => {
  expect(formProblem({ type: 'object' }, true)).toMatch(/properties/)
  expect(formProblem(undefined, true)).toMatch(/properties/)
  expect(formProblem({ type: 'object', properties: { one: { enum: ['a'] } } }, true)).toBeUndefined()
  expect(formProblem({ type: 'object', properties: { one: { $ref: '#/$defs/one' } } }, true)).toMatch(/one/)
})
