import { isObject, member, type Message } from '../message.ts'
import { absent, ALL, failed, passed, TRANSPORTS, unchecked, unless, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Reply } from '../session.ts'
import { inputOf } from '../survey.ts'
import { requestTool } from '../tool-call.ts'
import { needsTask } from './tools.ts'

/** The most tools that are called with wrong arguments. */
const MOST_TRIED = 5

/** Types that an object does not have, and that no server makes of one. */
const OTHER_TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'array'])

/** Our own check of a part of R159: what servers do with arguments that their schemas exclude. */
export const TOOL_INPUT_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V159',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A server checks the arguments of a call.',
    how: 'Calls tools without an argument that they require, and with an object in the place of another type.',
    fix: 'Check arguments with the input schema of the tool, and answer with isError or error -32602.',
    calls: true,
    async check(subject) {
      const needy = (await subject.callable()).filter((tool) => !needsTask(tool) && neededBy(tool).length > 0)
      if (needy.length === 0) return absent('no tool requires an argument without a default')
      const session = await subject.shared()
      let answered = 0
      for (const tool of needy.slice(0, MOST_TRIED)) {
        const name = String(tool['name'])
        const missing = await requestTool(session, [tool, {}])
        if (isSuccess(missing)) return failed(`a call of ${name} without its arguments succeeds`)
        const key = neededBy(tool).find((one) => OTHER_TYPES.has(typeOf(tool, one)))
        const input = { ...inputOf(tool), ...(key !== undefined && { [key]: { validator: true } }) }
        const wrong = key === undefined ? missing : await requestTool(session, [tool, input])
        if (isSuccess(wrong))
          return failed(
            `a call of ${name} with an object as ${String(key)}, which is of the type ${String(typeOf(tool, key))}, succeeds`,
          )
        if (missing.message !== undefined && wrong.message !== undefined) answered++
      }
      return answered === 0 ? unchecked('no call with wrong arguments was answered') : passed
    },
  },
  {
    id: 'V143',
    level: 'should',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A call of a tool that requires no argument may leave out "arguments".',
    how: 'Calls the quickest tool that answered to an empty object once more, without "arguments".',
    fix: 'Read a call without "arguments" as one with an empty object.',
    calls: true,
    async check(subject) {
      const { calls } = await subject.survey()
      const [call] = calls
        .filter(({ reply, input, asked }) => isSuccess(reply) && asked.length === 0 && isEmpty(input))
        .toSorted((one, other) => one.ms - other.ms)
      if (call === undefined) return absent('no tool answered to an empty object')
      const name = String(call.tool['name'])
      const reply = await (await subject.shared()).request('tools/call', { name })
      if (reply.message === undefined) return unchecked(reply.problem ?? 'the call is not answered')
      return unless(isSuccess(reply) ? undefined : `a call of ${name} without "arguments" fails`)
    },
  },
]

function isEmpty(input: Message): boolean {
  return Object.keys(input).length === 0
}

/** The arguments that a tool requires and has no default for. */
function neededBy({ inputSchema }: Message): readonly string[] {
  const required = member(inputSchema, 'required')
  if (!Array.isArray(required)) return []
  return required.filter(
    (key): key is string =>
      typeof key === 'string' &&
      isObject(member(inputSchema, 'properties', key)) &&
      member(inputSchema, 'properties', key, 'default') === undefined,
  )
}

function typeOf({ inputSchema }: Message, key: string | undefined): unknown {
  return key === undefined ? undefined : member(inputSchema, 'properties', key, 'type')
}

/** Whether a call came to a result that is no failure, no question and no task. */
function isSuccess({ result }: Reply): boolean {
  if (result === undefined || result['isError'] === true || !Array.isArray(result['content'])) return false
  return (result['resultType'] ?? 'complete') === 'complete'
}
