import { member } from '../message.ts'
import {
  A_TO_D,
  absent,
  answeredWith,
  E_ONLY,
  failed,
  passed,
  TRANSPORTS,
  unchecked,
  unless,
  type Rule,
  type Verdict,
} from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Session } from '../session.ts'
import { callTool, type SurveyedCall } from '../survey.ts'
import { requestTool } from '../tool-call.ts'

const LOG = 'notifications/message'
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'
/** The level that only the gravest messages have. */
const HIGHEST = 'emergency'
/** The most tools that are called again. */
const MOST_CALLS = 8

/** Rules about which log messages are sent. */
export const LOG_LEVEL_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V185',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'After logging/setLevel, only messages at or above the level are sent (the second half of R185).',
    how: `Sets the level ${HIGHEST}, and calls the tools that logged again.`,
    fix: 'Compare the level of each message with the one that the client has set.',
    calls: true,
    async check(subject) {
      if (!Object.hasOwn(await subject.capabilities(), 'logging')) return absent('the server does not log')
      const logging = await loggingCalls(subject)
      if (logging.length === 0) return unchecked('no tool logged')
      const session = await subject.session()
      const { result, problem } = await session.request('logging/setLevel', { level: HIGHEST })
      if (result === undefined) return unchecked(problem ?? `the level ${HIGHEST} is refused`)
      const from = subject.trace.mark
      for (const { tool } of logging.slice(0, MOST_CALLS)) await callTool(session, tool)
      return unless(lowOf(session, from))
    },
  },
  {
    id: 'V186',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A request gets only log messages at or above the level in its _meta (the second half of R186).',
    how: `Calls the tools that logged again, with the level ${HIGHEST}.`,
    fix: 'Compare the level of each message with _meta["io.modelcontextprotocol/logLevel"] of its request.',
    calls: true,
    async check(subject) {
      const logging = await loggingCalls(subject)
      if (logging.length === 0) return unchecked('no tool logged')
      const session = await subject.session()
      const from = subject.trace.mark
      for (const { tool, input } of logging.slice(0, MOST_CALLS))
        await requestTool(session, [tool, input], { meta: { [LOG_LEVEL]: HIGHEST } })
      return unless(lowOf(session, from))
    },
  },
  {
    id: 'V184',
    level: 'should',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A call with a level of log messages that does not exist is answered with error -32602.',
    how: 'Calls a tool that logged again, with a level that does not exist.',
    fix: 'Check _meta["io.modelcontextprotocol/logLevel"] of each request.',
    calls: true,
    async check(subject) {
      const logging = await loggingCalls(subject)
      if (logging.length === 0) return unchecked('no tool logged')
      const session = await subject.shared()
      let found: Verdict = passed
      // Not all of them need have logged, so one that refuses the level is enough.
      for (const { tool, input } of logging.slice(0, MOST_CALLS)) {
        const { error, problem } = await requestTool(session, [tool, input], {
          meta: { [LOG_LEVEL]: 'validator' },
        })
        if (error?.['code'] === -32_602) return passed
        found =
          error === undefined
            ? failed(problem ?? 'an unknown level is accepted')
            : answeredWith(-32_602, error, 'an unknown level')
      }
      return found
    },
  },
]

/** The calls of tools that logged. On one connection, calls that were made at the same time count too. */
async function loggingCalls(subject: ServerSubject): Promise<readonly SurveyedCall[]> {
  const { calls } = await subject.survey()
  return calls.filter(({ reply }) =>
    reply.before.some(({ messages }) => messages.some(({ method }) => method === LOG)),
  )
}

/** What is wrong with the log messages from a place of the trace on; undefined if all have the highest level. */
function lowOf({ wire }: Session, from: number): string | undefined {
  const low = wire
    .messagesFrom(from)
    .find((message) => message['method'] === LOG && member(message, 'params', 'level') !== HIGHEST)
  return (
    low &&
    `a message of the level ${JSON.stringify(member(low, 'params', 'level'))} is sent, and the client has set ${HIGHEST}`
  )
}
