import type { ClientSubject } from '../client-subject.ts'
import { askAndReply, type Offer } from '../client/offer.ts'
import type { Scenario } from '../client/scenario.ts'
import type { Turn } from '../client/turn.ts'
import type { Visit } from '../client/visit.ts'
import { isObject, member, type Message } from '../message.ts'
import { absent, D_ONLY, D_TO_E, passed, TRANSPORTS, unchecked, type Rule } from '../rule.ts'
import { declaredIn, modesIn, questionsOf, type Question } from './questions-seen.ts'
import { broken, goesOnAfter, shown, straying } from './verdicts.ts'

/** Rules about the forms and URLs that servers show to users, since 2025-11-25. */
export const CLIENT_FORM_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R210',
    level: 'must',
    revisions: D_ONLY,
    transports: TRANSPORTS,
    rule: 'A question in a mode that the client did not declare is answered with -32602.',
    how: 'Asks in a mode that the client does not declare.',
    fix: 'Answer elicitation/create with the error -32602 if its mode is not declared.',
    async check(subject) {
      const visit = await subject.visit(FORMS)
      const modes = modesIn(declaredIn(visit))
      if (modes.length === 0) return absent('the client does not declare elicitation')
      if (modes.length > 1) return absent('the client declares both modes')
      const question = formIn(visit, 'ask_other_mode')
      if (question?.seen === undefined) return unchecked('the client does not answer the tool ask_other_mode')
      return question.code === -32_602
        ? passed
        : broken(
            visit,
            question.seen,
            `the client answers with ${question.code === undefined ? 'a result' : `the error ${shown(question.code)}`}`,
          )
    },
  },
  {
    id: 'R211',
    level: 'must',
    revisions: D_TO_E,
    transports: TRANSPORTS,
    rule: 'A question without a mode is a form.',
    how: 'Asks with the mode "form" and without a mode, and compares.',
    fix: 'Read a missing mode as "form".',
    async check(subject) {
      const [visit, usual] = await Promise.all([subject.visit(FORMS), subject.usual()])
      if (formIn(visit, 'ask_form')?.result === undefined)
        return unchecked('the client does not answer a question with the mode "form"')
      const [question] = questionsOf(usual, 'elicitation/create')
      if (question === undefined) return unchecked('the client does not call the tool ask_user')
      return question.result === undefined
        ? broken(usual, question.seen ?? question, 'the client does not answer a question without a mode')
        : passed
    },
  },
  {
    id: 'R213',
    level: 'should',
    revisions: D_TO_E,
    transports: TRANSPORTS,
    rule: 'A client that supports defaults fills them in, for each type.',
    how: 'Shows a form whose fields all have defaults.',
    fix: 'Fill in the default of each field that the user left empty: texts, numbers, booleans and choices.',
    async check(subject) {
      const visit = await subject.visit(FORMS)
      const question = formIn(visit, 'ask_defaults')
      const content = contentOf(question)
      if (content === undefined) return unchecked('the client does not accept the form of ask_defaults')
      const names = Object.keys(DEFAULTS)
      const missing = names.filter((name) => !Object.hasOwn(content, name))
      if (missing.length === names.length) return unchecked('the client fills in no default')
      return missing.length === 0
        ? passed
        : broken(visit, question?.seen, `the client fills in other defaults, but not ${missing.join(', ')}`)
    },
  },
  {
    id: 'R214',
    level: 'must',
    revisions: D_TO_E,
    transports: TRANSPORTS,
    rule: 'A client understands all five ways to write choices.',
    how: 'Shows a form with enum, enumNames, oneOf, and lists with enum and anyOf, and compares with a plain form.',
    fix: 'Read the choices from enum, oneOf, items.enum and items.anyOf, and send the values, not the titles.',
    async check(subject) {
      const visit = await subject.visit(FORMS)
      if (formIn(visit, 'ask_form')?.result === undefined)
        return unchecked('the client does not answer a plain form')
      const question = formIn(visit, 'ask_choices')
      if (question === undefined) return unchecked('the client does not call the tool ask_choices')
      if (question.result === undefined)
        return broken(visit, question.seen ?? question, 'the client does not answer a form with choices')
      const content = contentOf(question) ?? {}
      const wrong = Object.keys(CHOICES).find(
        (name) => Object.hasOwn(content, name) && !isChoice(name, content[name]),
      )
      return wrong === undefined
        ? passed
        : broken(visit, question.seen, `the field ${wrong} is ${shown(content[wrong])}, which is no choice`)
    },
  },
  {
    id: 'R215',
    level: 'must',
    revisions: D_TO_E,
    transports: TRANSPORTS,
    rule: 'A client does not open a URL before the user agrees.',
    how: 'Asks to open a URL of the validator, and looks who requests it before the answer.',
    fix: 'Show the URL, and let a browser open it when the user agrees. Do not fetch it, not even for a preview.',
    async check(subject) {
      const visit = await subject.visit(FORMS)
      if (!modesIn(declaredIn(visit)).includes('url'))
        return absent('the client does not declare elicitation with URLs')
      const question = formIn(visit, 'ask_page')
      if (question === undefined) return unchecked('the client does not call the tool ask_page')
      const until = question.result?.['action'] === 'accept' ? (question.seen?.at ?? Infinity) : Infinity
      const early = visit.fetched.find(
        // A browser says that a person goes there.
        ({ path, http, at }) => path === PAGE && at < until && http.headers['sec-fetch-mode'] !== 'navigate',
      )
      if (early !== undefined) return broken(visit, early, 'the client requests the URL by itself')
      return question.seen === undefined ? unchecked('the client does not answer') : passed
    },
  },
  {
    id: 'R217',
    level: 'must',
    revisions: D_ONLY,
    transports: TRANSPORTS,
    rule: 'A notification about an elicitation that the client does not know is ignored.',
    how: 'Sends notifications/elicitation/complete with an unknown id, and looks whether the client goes on.',
    fix: 'Ignore notifications/elicitation/complete with an unknown elicitationId.',
    check: (subject) =>
      goesOnAfter(subject, STRAY_COMPLETION, 'the client does not go on after an unknown elicitationId'),
  },
]

const PAGE = '/agree'
const VALUES: readonly string[] = ['red', 'green']
const TITLED: readonly Message[] = [
  { const: 'red', title: 'Port' },
  { const: 'green', title: 'Starboard' },
]

const DEFAULTS: Readonly<{ [name: string]: Message }> = {
  text: { type: 'string', default: 'Ada' },
  whole: { type: 'integer', default: 3 },
  number: { type: 'number', default: 1.5 },
  flag: { type: 'boolean', default: true },
  choice: { type: 'string', enum: VALUES, default: 'green' },
}
const CHOICES: Readonly<{ [name: string]: Message }> = {
  plain: { type: 'string', enum: VALUES, default: 'red' },
  named: { type: 'string', enum: VALUES, enumNames: ['Port', 'Starboard'], default: 'red' },
  titled: { type: 'string', oneOf: TITLED, default: 'red' },
  several: { type: 'array', items: { type: 'string', enum: VALUES }, default: ['red'] },
  several_titled: { type: 'array', items: { anyOf: TITLED }, default: ['red'] },
}

function isChoice(name: string, value: unknown): boolean {
  if (CHOICES[name]?.['type'] !== 'array') return VALUES.includes(String(value))
  return Array.isArray(value) && value.every((one) => VALUES.includes(String(one)))
}

function formOf(properties: Message): Message {
  return { message: 'Please fill in this form', requestedSchema: { type: 'object', properties } }
}

function contentOf(question: Question | undefined): Message | undefined {
  const content = question?.result?.['action'] === 'accept' ? question.result['content'] : undefined
  return isObject(content) ? content : undefined
}

/** The question of a tool: its message says which. */
function formIn(visit: Visit, tool: string): Question | undefined {
  return questionsOf(visit, 'elicitation/create').find(({ params }) =>
    String(member(params, 'message')).endsWith(`(${tool})`),
  )
}

/** What each tool of the scenario asks; undefined if it has nothing to ask this client. */
const TOOLS: Readonly<{ [tool: string]: (turn: Turn, modes: readonly string[]) => Message | undefined }> = {
  ask_form: () => ({ ...formOf({ name: { type: 'string', default: 'Ada' } }), mode: 'form' }),
  ask_defaults: () => formOf(DEFAULTS),
  ask_choices: () => formOf(CHOICES),
  ask_page: ({ visit }, modes) => (modes.includes('url') ? pageOf(visit) : undefined),
  ask_other_mode({ visit }, modes) {
    if (visit.isModern || modes.length !== 1) return undefined
    return modes.includes('form') ? pageOf(visit) : { ...formOf({ name: { type: 'string' } }), mode: 'form' }
  },
}

function pageOf(visit: Visit): Message {
  return {
    mode: 'url',
    message: 'Please open this page',
    url: `${visit.site}${PAGE}`,
    ...(!visit.isModern && { elicitationId: 'validator-page-1' }),
  }
}

const FORMS: Scenario = {
  name: 'forms',
  does: 'asks the user with forms of all kinds, and to open a page',
  revisions: D_TO_E,
  transports: TRANSPORTS,
  official: 'elicitation-sep1034-client-defaults',
  begin: () => ({
    hasSite: true,
    offer: (offer: Offer): Offer => ({
      ...offer,
      tools: Object.keys(TOOLS).map((name) => ({
        name,
        description: 'Asks the user',
        inputSchema: { type: 'object', properties: {} },
      })),
    }),
    async message(turn) {
      const name = String(turn.params['name'])
      if (turn.method !== 'tools/call' || !Object.hasOwn(TOOLS, name)) return false
      const modes = modesIn(turn.capabilities)
      const asked = modes.length === 0 ? undefined : TOOLS[name]?.(turn, modes)
      if (asked === undefined) return false
      const message = `${String(asked['message'])} (${name})`
      await askAndReply(turn, 'elicitation/create', { ...asked, message })
      return true
    },
  }),
}

const STRAY_COMPLETION: Scenario = straying(
  {
    name: 'stray-completion',
    does: 'says that an elicitation is complete which nobody began',
    revisions: D_ONLY,
    transports: TRANSPORTS,
  },
  'notifications/elicitation/complete',
  { elicitationId: 'validator-unknown' },
)
