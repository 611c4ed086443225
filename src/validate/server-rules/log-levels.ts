import { member } from '../message.ts'
import { A_TO_D, absent, failed, passed, TRANSPORTS, unchecked, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { callTool } from '../survey.ts'

const LOG = 'notifications/message'
/** The level that only the gravest messages have. */
const HIGHEST = 'emergency'
/** The most tools that are called again. */
const MOST_CALLS = 5

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
      const { calls } = await subject.survey()
      const logging = calls.filter(({ reply }) =>
        reply.before.some(({ messages }) => messages.some(({ method }) => method === LOG)),
      )
      if (logging.length === 0) return unchecked('no tool logged')
      const session = await subject.session()
      const { result, problem } = await session.request('logging/setLevel', { level: HIGHEST })
      if (result === undefined) return unchecked(problem ?? `the level ${HIGHEST} is refused`)
      const from = subject.trace.mark
      for (const { tool } of logging.slice(0, MOST_CALLS)) await callTool(session, tool)
      const low = session.wire
        .messagesFrom(from)
        .find((message) => message['method'] === LOG && member(message, 'params', 'level') !== HIGHEST)
      return low === undefined
        ? passed
        : failed(
            `a message of the level ${JSON.stringify(member(low, 'params', 'level'))} is sent, and the client has set ${HIGHEST}`,
          )
    },
  },
]
