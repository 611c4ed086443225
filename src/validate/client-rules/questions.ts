import type { ClientSubject } from '../client-subject.ts'
import { askAndReply, QUESTIONS } from '../client/offer.ts'
import type { Scenario } from '../client/scenario.ts'
import type { Visit } from '../client/visit.ts'
import { isObject, member } from '../message.ts'
import {
  A_TO_D,
  absent,
  ALL,
  C_TO_E,
  passed,
  TRANSPORTS,
  unchecked,
  type Rule,
  type Verdict,
} from '../rule.ts'
import { declaredIn, questionsOf, type Question } from './questions-seen.ts'
import { broken, everyVisit, shown } from './verdicts.ts'

const ACTIONS: ReadonlySet<unknown> = new Set(['accept', 'decline', 'cancel'])
/** A word has at least one token; more words than this for a token are surely too many. */
const WORDS_PER_TOKEN = 4

/** Rules about the answers to questions: roots, samples, forms. */
export const CLIENT_QUESTION_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R200',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A client declares roots, sampling and elicitation if it answers such questions.',
    how: 'Asks all three, whatever the client declares.',
    fix: 'Declare a capability for each kind of question, and answer only these.',
    async check(subject) {
      const visit = await subject.visit(ASKS_ANYWAY)
      const declared = declaredIn(visit)
      const asked = Object.values(QUESTIONS).flatMap(([capability, method]) =>
        questionsOf(visit, method).map((question) => ({ capability, question })),
      )
      for (const { capability, question } of asked) {
        const isDeclared = Object.hasOwn(declared, capability)
        if (!isDeclared && question.result !== undefined)
          return broken(
            visit,
            question.seen,
            `the client answers ${question.method}, and does not declare ${capability}`,
          )
        if (isDeclared && question.code === -32_601)
          return broken(
            visit,
            question.seen,
            `the client declares ${capability}, and does not know ${question.method}`,
          )
      }
      return asked.length > 0 ? passed : unchecked('the client does not call the tools that ask')
    },
  },
  {
    id: 'R201',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'The URIs of roots are file:// URIs.',
    how: 'Looks at the answers to roots/list.',
    fix: 'Offer folders with file:// URIs.',
    isLast: true,
    check: (subject) =>
      everyAnswer(subject, 'roots/list', ({ result }) => {
        const roots = member(result, 'roots')
        if (!Array.isArray(roots)) return 'the answer has no list of roots'
        const wrong: unknown = roots.find(
          (root) => !String(member(root, 'uri') as string | undefined).startsWith('file://'),
        )
        return wrong === undefined ? undefined : `a root is ${shown(wrong)}`
      }),
  },
  {
    id: 'R203',
    level: 'should',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A client without roots answers roots/list with -32601.',
    how: 'Sends roots/list, whatever the client declares.',
    fix: 'Answer requests for what the client does not support with the error -32601.',
    async check(subject) {
      const visit = await subject.visit(ASKS_ANYWAY)
      const [question] = questionsOf(visit, 'roots/list')
      if (question === undefined) return unchecked('the client does not call the tool ask_folders')
      if (Object.hasOwn(declaredIn(visit), 'roots')) return absent('the client supports roots')
      if (question.seen === undefined) return broken(visit, question, 'the client does not answer roots/list')
      return question.code === -32_601
        ? passed
        : broken(visit, question.seen, `the client answers roots/list with ${answerText(question)}`)
    },
  },
  {
    id: 'R204',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A sample has at most maxTokens tokens.',
    how: `Asks for samples, and looks for answers with more than ${WORDS_PER_TOKEN} words for each token.`,
    fix: 'Pass maxTokens on to the model, or end the text there.',
    isLast: true,
    check: (subject) =>
      everyAnswer(subject, 'sampling/createMessage', ({ params, result }) => {
        const most = Number(member(params, 'maxTokens'))
        const words = wordsIn(member(result, 'content'))
        return words > most * WORDS_PER_TOKEN
          ? `the answer has ${words} words, and maxTokens is ${most}`
          : undefined
      }),
  },
  {
    id: 'R212',
    level: 'must',
    revisions: C_TO_E,
    transports: TRANSPORTS,
    rule: 'The answer to an elicitation has the action accept, decline or cancel, and content only if a form was accepted.',
    how: 'Looks at the answers to elicitation/create.',
    fix: 'Send one of the three actions, and content only with accept.',
    isLast: true,
    check: (subject) =>
      everyAnswer(subject, 'elicitation/create', ({ params, result }) => {
        const action = member(result, 'action')
        if (!ACTIONS.has(action)) return `the action is ${shown(action)}`
        const mayHave = action === 'accept' && member(params, 'mode') !== 'url'
        const content = member(result, 'content')
        if (content === undefined || content === null) return undefined
        if (!mayHave) return `the answer has content with the action ${shown(action)}`
        return isObject(content) ? undefined : `the content is ${shown(content)}`
      }),
  },
]

function answerText({ code, result }: Question): string {
  return code === undefined ? shown(result) : `the error ${shown(code)}`
}

function wordsIn(content: unknown): number {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content]
  return blocks
    .map((block) => member(block, 'text'))
    .filter((text) => typeof text === 'string')
    .reduce((sum, text) => sum + text.split(/\s+/).length, 0)
}

/** Looks at the answers to a question in all visits. */
async function everyAnswer(
  subject: ClientSubject,
  method: string,
  wrong: (question: Question) => string | undefined,
): Promise<Verdict> {
  return everyVisit(subject, (visit: Visit) => {
    const answered = questionsOf(visit, method).filter(
      // A task is not the answer.
      ({ params, result }) => result !== undefined && member(params, 'task') === undefined,
    )
    for (const question of answered) {
      const found = wrong(question)
      if (found !== undefined) return broken(visit, question.seen, found)
    }
    return answered.length > 0 ? passed : unchecked(`the client does not answer ${method}`)
  })
}

const ASKS_ANYWAY: Scenario = {
  name: 'asks-anyway',
  does: 'asks questions that the client may not have declared',
  revisions: ALL,
  transports: TRANSPORTS,
  begin: () => ({
    async message(turn) {
      const name = String(turn.params['name'])
      if (turn.method !== 'tools/call' || !Object.hasOwn(QUESTIONS, name)) return false
      const [, method, params] = QUESTIONS[name]!
      if (method === 'elicitation/create' && turn.revision < '2025-06-18') return false
      await askAndReply(turn, method, params)
      return true
    },
  }),
}
