import { CLIENT_FORM_RULES } from '../../src/validate/client-rules/forms.ts'
import { isObject, member, type Message } from '../../src/validate/message.ts'
import { answering, declaring } from './client-changes.ts'
import type { ClientFault } from './client-fault.ts'
import { without } from './fault.ts'
import { proveClient } from './prove-client.ts'

const formsOnly = (message: Message): Message =>
  declaring(message, (capabilities) => ({ ...capabilities, elicitation: {} }))

/** Changes a field of forms that the client fills in. */
function filling(message: Message, name: string, value: unknown): Message {
  return answering(message, (answer) => {
    const { content } = answer
    if (!isObject(content) || !Object.hasOwn(content, name)) return answer
    const others = without(content, name)
    return { ...answer, content: value === undefined ? others : { ...others, [name]: value } }
  })
}

const isAgreed = (message: Message): boolean =>
  member(message, 'result', 'action') === 'accept' && member(message, 'result', 'content') === undefined

const FAULTS: readonly ClientFault[] = [
  { rule: 'R210', does: 'answers in a mode that it did not declare', message: formsOnly },
  { rule: 'R211', does: 'answers only questions with a mode', quirk: 'needs a mode' },
  {
    rule: 'R213',
    does: 'forgets the defaults of booleans',
    message: (message) => filling(message, 'flag', undefined),
  },
  { rule: 'R214', does: 'knows enum only', quirk: 'knows enum only' },
  { rule: 'R214', does: 'sends titles', message: (message) => filling(message, 'titled', 'Port') },
  { rule: 'R215', does: 'fetches the URL', quirk: 'fetches URLs' },
  {
    rule: 'R217',
    does: 'breaks on an unknown completion',
    breaksOn: 'notifications/elicitation/complete',
  },
]

const VARIANTS: readonly ClientFault[] = [
  {
    rule: 'R210',
    does: 'declares forms only, and refuses URLs',
    message: (message) =>
      isAgreed(message)
        ? { ...without(message, 'result'), error: { code: -32_602, message: 'no URLs' } }
        : formsOnly(message),
  },
]

proveClient('Forms of clients', CLIENT_FORM_RULES, FAULTS, VARIANTS)
