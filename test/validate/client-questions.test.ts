import { CLIENT_QUESTION_RULES } from '../../src/validate/client-rules/questions.ts'
import { member, type Message } from '../../src/validate/message.ts'
import { answering, declaring } from './client-changes.ts'
import type { ClientFault } from './client-fault.ts'
import { without } from './fault.ts'
import { proveClient } from './prove-client.ts'

const hasRoots = (message: Message): boolean => member(message, 'result', 'roots') !== undefined
const refused = (message: Message, code: number): Message => ({
  ...without(message, 'result'),
  error: { code, message: 'no roots' },
})
const withoutRoots = (message: Message, code: number): Message =>
  hasRoots(message)
    ? refused(message, code)
    : declaring(message, (capabilities) => without(capabilities, 'roots'))

const FAULTS: readonly ClientFault[] = [
  {
    rule: 'R200',
    does: 'answers without declaring anything',
    message: (message) => declaring(message, () => ({})),
  },
  {
    rule: 'R201',
    does: 'has web pages as roots',
    message: (message) =>
      answering(message, (answer) =>
        'roots' in answer ? { roots: [{ uri: 'https://example.com/' }] } : answer,
      ),
  },
  {
    rule: 'R203',
    does: 'answers with an internal error if it has no roots',
    message: (message) => withoutRoots(message, -32_603),
  },
  {
    rule: 'R204',
    does: 'answers with long samples',
    message: (message) =>
      answering(message, (answer) =>
        'model' in answer ? { ...answer, content: { type: 'text', text: 'ship '.repeat(60) } } : answer,
      ),
  },
  {
    rule: 'R212',
    does: 'answers with another action',
    message: (message) => answering(message, (answer) => ('action' in answer ? { action: 'ok' } : answer)),
  },
  {
    rule: 'R212',
    does: 'declines with content',
    message: (message) =>
      answering(message, (answer) => ('action' in answer ? { ...answer, action: 'decline' } : answer)),
  },
]

const VARIANTS: readonly ClientFault[] = [
  { rule: 'R203', does: 'has no roots, and says so', message: (message) => withoutRoots(message, -32_601) },
]

proveClient('Questions to clients', CLIENT_QUESTION_RULES, FAULTS, VARIANTS)
