import { isDeepStrictEqual } from 'node:util'
import { isObject, member, parsed, type Message } from '../message.ts'
import {
  absent,
  ALL,
  C_TO_D,
  C_TO_E,
  D_TO_E,
  failed,
  passed,
  TRANSPORTS,
  unchecked,
  unless,
  type Rule,
  type Verdict,
  answeredWith,
} from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { SurveyedCall } from '../survey.ts'
import { requestTool } from '../tool-call.ts'
import { misfit } from '../tool-schema.ts'
import { eachTool } from './schemas.ts'

/** The most tools that are called with wrong arguments. */
const MOST_TRIED = 5

/** JSON of a value is at most so many times longer than another text for it: numbers and characters can be written in two ways. */
const LONGER = 6

/** Rules about tools. */
export const TOOL_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R140',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A server declares the capability tools if and only if it has tools.',
    how: 'Compares the declared capabilities with the answer to tools/list.',
    fix: 'Declare "tools": {} if you list tools; if you have none, return an empty list or error -32601.',
    async check(subject) {
      const isDeclared = Object.hasOwn(await subject.capabilities(), 'tools')
      const { result } = await (await subject.shared()).request('tools/list')
      const tools = member(result, 'tools')
      if (isDeclared && !Array.isArray(tools))
        return failed('the server declares tools, and tools/list returns no list of them')
      const isOffered = Array.isArray(tools) && tools.length > 0
      return unless(
        !isDeclared && isOffered ? 'the server lists tools, and does not declare tools' : undefined,
      )
    },
  },
  {
    id: 'R141',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Each tool has a name and an input schema of the type object.',
    how: 'Looks at every listed tool.',
    fix: 'Give each tool a name and an inputSchema with "type": "object".',
    check: (subject) =>
      eachTool(subject, ({ name, inputSchema }) => {
        if (typeof name !== 'string' || name === '') return 'it has no name'
        return member(inputSchema, 'type') === 'object'
          ? undefined
          : 'its input schema is not of the type object'
      }),
  },
  {
    id: 'R142',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'The result of a call has a list of content.',
    how: 'Calls every tool, and looks at the results.',
    fix: 'Return "content": [...], which may be empty.',
    calls: true,
    async check(subject) {
      const { calls } = await subject.survey()
      if (calls.length > 0 && !calls.some(isComplete)) return unchecked('no call came to its result')
      return eachCall(subject, (call) => {
        if (!isComplete(call)) return undefined
        const content = call.reply.result?.['content']
        return Array.isArray(content) && content.every((block) => typeof member(block, 'type') === 'string')
          ? undefined
          : `the result of ${String(call.tool['name'])} has no proper list of content`
      })
    },
  },
  {
    id: 'R143',
    level: 'should',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A tool that fails returns a result with isError, not a protocol error.',
    how: 'Calls every tool with arguments that its schema accepts, and looks for errors.',
    fix: 'Return { "content": [...], "isError": true }, so that the model can see what went wrong.',
    calls: true,
    check: (subject) =>
      eachCall(subject, ({ tool, reply: { error } }) =>
        error !== undefined && (error['code'] === -32_603 || error['code'] === -32_000)
          ? `a call of ${String(tool['name'])} fails with the protocol error ${String(error['code'])}`
          : undefined,
      ),
  },
  {
    id: 'R144',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A call of an unknown tool is answered with error -32602.',
    how: 'Calls a tool that does not exist.',
    fix: 'Answer with the JSON-RPC error -32602, not with a result.',
    async check(subject) {
      if (!Object.hasOwn(await subject.capabilities(), 'tools')) return absent('the server has no tools')
      const { error, problem } = await (
        await subject.shared()
      ).request('tools/call', { name: 'validator_unknown', arguments: {} })
      if (error === undefined) return failed(problem ?? 'a call of an unknown tool is answered with a result')
      return answeredWith(-32_602, error, 'a call of an unknown tool')
    },
  },
  {
    id: 'R146',
    level: 'should',
    revisions: D_TO_E,
    transports: TRANSPORTS,
    rule: 'Arguments that break the schema of a tool are answered with a result with isError.',
    how: 'Calls a tool without an argument that it requires.',
    fix: 'Return { "content": [...], "isError": true } that says what is wrong with the arguments.',
    calls: true,
    async check(subject) {
      const needy = (await subject.callable()).filter(({ inputSchema }) => requiredOf(inputSchema) > 0)
      if (needy.length === 0) return absent('no tool requires an argument')
      const session = await subject.shared()
      for (const tool of needy.filter((one) => !needsTask(one)).slice(0, MOST_TRIED)) {
        const { result, error, problem } = await requestTool(session, [tool, {}])
        if (result?.['isError'] === true) return passed
        // It needs a capability or a task, or asks for what is missing; its arguments were not looked at.
        if (error?.['code'] === -32_021 || result?.['resultType'] === 'input_required') continue
        const what = `a call of ${String(tool['name'])} without its arguments`
        if (result !== undefined) return failed(`${what} succeeds`)
        return failed(problem ?? `${what} is answered with the protocol error ${String(error?.['code'])}`)
      }
      return unchecked('every tool that requires an argument needs a task or a capability')
    },
  },
  {
    id: 'R147',
    level: 'must',
    revisions: C_TO_E,
    transports: TRANSPORTS,
    rule: 'A tool with an output schema returns structured content that fits it.',
    how: 'Calls every tool with an output schema.',
    fix: 'Return structuredContent as the output schema says.',
    calls: true,
    async check(subject) {
      const { calls } = await subject.survey()
      const structured = calls.filter(
        (call) =>
          isObject(call.tool['outputSchema']) && isComplete(call) && call.reply.result?.['isError'] !== true,
      )
      if (structured.length === 0) return unchecked('no tool with an output schema returned a result')
      for (const { tool, reply } of structured) {
        const value = reply.result?.['structuredContent']
        const problem =
          value === undefined
            ? 'there is no structured content'
            : await misfit(tool['outputSchema'] as Message, value)
        if (problem !== undefined) return failed(`the result of ${String(tool['name'])}: ${problem}`)
      }
      return passed
    },
  },
  {
    id: 'R148',
    level: 'must',
    revisions: C_TO_D,
    transports: TRANSPORTS,
    rule: 'Structured content is an object, and so is the root of an output schema.',
    how: 'Looks at every output schema, and at the results of calls.',
    fix: 'Put other values into a member of an object.',
    async check(subject) {
      const tools = await subject.list('tools')
      const root = tools.find(
        ({ outputSchema }) => outputSchema !== undefined && member(outputSchema, 'type') !== 'object',
      )
      if (root !== undefined)
        return failed(`the output schema of ${String(root['name'])} is not of the type object`)
      if (!tools.some(({ outputSchema }) => outputSchema !== undefined))
        return absent('no tool has an output schema')
      const { calls } = await subject.survey()
      const wrong = calls.find(({ reply: { result } }) => {
        const value = result?.['structuredContent']
        return value !== undefined && !isObject(value)
      })
      return unless(wrong && `the structured content of ${String(wrong.tool['name'])} is not an object`)
    },
  },
  {
    id: 'R149',
    level: 'should',
    revisions: C_TO_E,
    transports: TRANSPORTS,
    rule: 'Structured content is repeated as JSON in a text, for clients that do not know it.',
    how: 'Calls every tool, and compares the structured content with the texts.',
    fix: 'Add { "type": "text", "text": JSON.stringify(structuredContent) } to the content.',
    calls: true,
    async check(subject) {
      const { calls } = await subject.survey()
      const structured = calls.filter(({ reply: { result } }) => result?.['structuredContent'] !== undefined)
      if (structured.length === 0) return unchecked('no tool returned structured content')
      const wrong = structured.find(({ reply: { result } }) => {
        const content = Array.isArray(result?.['content']) ? result['content'] : []
        const structured = result?.['structuredContent']
        const least = JSON.stringify(structured).length / LONGER
        // Comparing a short text with a large value takes as long as comparing a long one.
        return !content.some((block) => {
          const text = String(member(block, 'text'))
          return text.length >= least && isDeepStrictEqual(parsed(text), structured)
        })
      })
      return unless(
        wrong && `the result of ${String(wrong.tool['name'])} has no text with its structured content`,
      )
    },
  },
  {
    id: 'R152',
    level: 'should',
    revisions: D_TO_E,
    transports: TRANSPORTS,
    rule: 'Names of tools have 1 to 128 characters of A–Z, a–z, 0–9, "_", "-" and ".", and are unique.',
    how: 'Looks at every listed tool.',
    fix: 'Rename the tool.',
    async check(subject) {
      const names = (await subject.list('tools')).map(({ name }) => String(name))
      const odd = names.find((name) => !/^[\w.-]{1,128}$/.test(name))
      if (odd !== undefined) return failed(`a tool is called ${JSON.stringify(odd).slice(0, 150)}`)
      return unless(new Set(names).size === names.length ? undefined : 'two tools have the same name')
    },
  },
]

/** Fails with the first call that something is wrong with. */
async function eachCall(
  subject: ServerSubject,
  wrong: (call: SurveyedCall) => string | undefined,
): Promise<Verdict> {
  const { calls } = await subject.survey()
  if (calls.length === 0) return absent('the server has no tools')
  for (const call of calls) {
    const found = wrong(call)
    if (found !== undefined)
      return failed(found, subject.trace.between(call.from, (call.reply.received?.at ?? call.from) + 1))
  }
  return passed
}

/** Whether a call came to its result: it did not become a task, and asks no more questions. */
function isComplete({ reply: { result } }: SurveyedCall): boolean {
  if (result === undefined) return false
  const { resultType, task } = result
  return resultType !== 'task' && resultType !== 'input_required' && !isObject(task)
}

/** Whether a tool can only be called as a task. */
export function needsTask(tool: Message): boolean {
  return member(tool, 'execution', 'taskSupport') === 'required'
}

function requiredOf(schema: unknown): number {
  const required = member(schema, 'required')
  return Array.isArray(required) ? required.length : 0
}
