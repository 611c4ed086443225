import { isObject, isRequest, member, type Message } from '../message.ts'
import {
  absent,
  C_TO_E,
  D_ONLY,
  D_TO_E,
  failed,
  passed,
  TRANSPORTS,
  unchecked,
  type Rule,
  type Verdict,
} from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { CLIENT_CAPABILITIES } from '../session.ts'
import { formProblem, sensitiveField } from './form-schema.ts'
import { sentRequests } from './exchanges.ts'
import { allMessages, sessionsByWire } from './json-rpc.ts'

const ELICIT = 'elicitation/create'
const SAMPLE = 'sampling/createMessage'

/** Rules about what a server asks its client, in requests up to 2025-11-25 and in results at 2026-07-28. */
export const QUESTION_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R205',
    level: 'must',
    revisions: D_TO_E,
    transports: TRANSPORTS,
    rule: 'A model gets tools only from a client that declares sampling.tools.',
    how: 'Calls every tool without that capability, and looks at the questions for the model.',
    fix: 'Leave out tools and toolChoice unless the client declares sampling.tools.',
    calls: true,
    isLast: true,
    check: (subject) =>
      eachQuestion(subject, SAMPLE, ({ params, capabilities }) =>
        member(capabilities, 'sampling', 'tools') === undefined &&
        (member(params, 'tools') !== undefined || member(params, 'toolChoice') !== undefined)
          ? 'the model gets tools, and the client did not declare sampling.tools'
          : undefined,
      ),
  },
  {
    id: 'R206',
    level: 'must',
    revisions: D_TO_E,
    transports: TRANSPORTS,
    rule: 'Every tool_use is answered in the next message, and a message with tool_result has nothing else.',
    how: 'Calls every tool, and looks at the messages for the model.',
    fix: 'Put all tool_result blocks, and only these, into the user message after the tool_use.',
    calls: true,
    isLast: true,
    check: (subject) => eachQuestion(subject, SAMPLE, ({ params }) => unansweredUse(params)),
  },
  {
    id: 'R207',
    level: 'must',
    revisions: C_TO_E,
    transports: TRANSPORTS,
    rule: 'The schema of a form is flat: its fields are texts, numbers, booleans or choices.',
    how: 'Calls every tool, and looks at the schemas of the forms.',
    fix: 'Ask for simple values; ask several times for nested ones.',
    calls: true,
    isLast: true,
    check: (subject) => eachForm(subject, (schema) => formProblem(schema, subject.revision >= '2025-11-25')),
  },
  {
    id: 'R208',
    level: 'should',
    revisions: C_TO_E,
    transports: TRANSPORTS,
    rule: 'A form does not ask for secrets.',
    how: 'Calls every tool, and looks for names such as "password" among the fields of the forms.',
    fix: 'Ask for secrets on a page of your own, which the mode "url" opens.',
    calls: true,
    isLast: true,
    check: (subject) =>
      eachForm(subject, (schema) => {
        const field = sensitiveField(schema)
        return field && `a form asks for ${JSON.stringify(field)}`
      }),
  },
  {
    id: 'R209',
    level: 'must',
    revisions: D_TO_E,
    transports: TRANSPORTS,
    rule: 'A server elicits only in modes that the client declared; an empty capability means forms.',
    how: 'Calls every tool, and compares the modes of the questions with the capabilities.',
    fix: 'Use the mode "url" only if the client declares elicitation.url.',
    calls: true,
    isLast: true,
    check: (subject) =>
      eachQuestion(subject, ELICIT, ({ params, capabilities }) => {
        const mode = member(params, 'mode') ?? 'form'
        const declared = member(capabilities, 'elicitation')
        const modes = isObject(declared) ? Object.keys(declared) : []
        const isDeclared =
          isObject(declared) &&
          (modes.some((one) => one === mode) || (mode === 'form' && !modes.includes('url')))
        return isDeclared
          ? undefined
          : `the server asks in the mode ${JSON.stringify(mode)}, which the client did not declare`
      }),
  },
  {
    id: 'R216',
    level: 'must',
    revisions: D_ONLY,
    transports: TRANSPORTS,
    rule: 'An error -32042 lists elicitations in the mode "url", each with a URL and an elicitationId.',
    how: 'Uses everything that the server offers, and looks at every error -32042.',
    fix: 'Send data.elicitations: [{ "mode": "url", "elicitationId", "url", "message" }], or another code.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      const errors = allMessages(subject).filter(
        ({ message }) => member(message, 'error', 'code') === -32_042,
      )
      if (errors.length === 0) return absent('the server sent no error -32042')
      for (const { message, received } of errors) {
        const list = member(message, 'error', 'data', 'elicitations')
        const isGood = Array.isArray(list) && list.length > 0 && list.every(isUrlQuestion)
        if (!isGood)
          return failed(
            `an error -32042 has the elicitations ${JSON.stringify(list)?.slice(0, 150)}`,
            subject.trace.between(received.at - 3, received.at + 1),
          )
      }
      return passed
    },
  },
]

interface Question {
  readonly method: string
  readonly params: unknown
  /** What the client declared. */
  readonly capabilities: unknown
  readonly at: number
}

/** Everything that the server asked in this run. */
function questionsOf(subject: ServerSubject): readonly Question[] {
  const sessions = sessionsByWire(subject)
  const requestOf = sentRequests()
  return allMessages(subject).flatMap(({ wire, message, received: { at } }) => {
    if (isRequest(message)) {
      const { method, params } = message
      return [{ method: String(method), params, capabilities: sessions.get(wire)?.capabilities, at }]
    }
    const asked = member(message, 'result', 'inputRequests')
    if (!isObject(asked)) return []
    const capabilities = member(requestOf(wire, message['id']), 'params', '_meta', CLIENT_CAPABILITIES)
    return Object.values(asked).map((one) => ({
      method: String(member(one, 'method')),
      params: member(one, 'params'),
      capabilities,
      at,
    }))
  })
}

/** Fails with the first question of a kind that something is wrong with. */
async function eachQuestion(
  subject: ServerSubject,
  method: string,
  wrong: (question: Question) => string | undefined,
): Promise<Verdict> {
  await subject.survey()
  const questions = questionsOf(subject).filter((question) => question.method === method)
  if (questions.length === 0) return unchecked(`nothing sent ${method}`)
  for (const question of questions) {
    const found = wrong(question)
    if (found !== undefined) return failed(found, subject.trace.between(question.at - 3, question.at + 1))
  }
  return passed
}

function eachForm(subject: ServerSubject, wrong: (schema: unknown) => string | undefined): Promise<Verdict> {
  return eachQuestion(subject, ELICIT, ({ params }) =>
    (member(params, 'mode') ?? 'form') === 'form' ? wrong(member(params, 'requestedSchema')) : undefined,
  )
}

/** What is wrong with the uses of tools in the messages for a model. */
function unansweredUse(params: unknown): string | undefined {
  const messages = member(params, 'messages')
  const blocks = (Array.isArray(messages) ? messages : []).map(blocksOf)
  for (const [i, own] of blocks.entries()) {
    const results = own.filter(({ type }) => type === 'tool_result')
    if (results.length > 0 && results.length < own.length) return 'a message has tool_result and other blocks'
    const next = (blocks[i + 1] ?? []).filter(({ type }) => type === 'tool_result')
    const answered = new Set(next.map(({ toolUseId }) => toolUseId))
    const open = own.find(({ type, id }) => type === 'tool_use' && !answered.has(id))
    if (open !== undefined) return `the tool_use ${JSON.stringify(open['id'])} has no tool_result`
  }
  return undefined
}

function blocksOf(message: unknown): readonly Message[] {
  const content = member(message, 'content')
  return (Array.isArray(content) ? content : [content]).filter(isObject)
}

function isUrlQuestion(one: unknown): boolean {
  return (
    member(one, 'mode') === 'url' &&
    typeof member(one, 'url') === 'string' &&
    typeof member(one, 'elicitationId') === 'string'
  )
}
