import { isObject, member } from '../message.ts'
import { ALL, passed, failed, TRANSPORTS, unless, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'

/** Our own check of the first moments of a connection. */
export const HANDSHAKE_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V001',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A client can connect, greet the server, and use it.',
    how: 'Opens a connection, greets the server as the revision wants it, and sends one more request.',
    fix: 'Answer initialize (server/discover at 2026-07-28) with the revision that was asked for and the capabilities, and then answer requests.',
    async check(subject) {
      const session = await subject.silent()
      const { result, error, problem } = await session.greet()
      if (result === undefined)
        return failed(
          problem ??
            `the greeting is answered with the error ${String(member(error, 'message'))}`.slice(0, 300),
        )
      const versions = session.isModern ? result['supportedVersions'] : [result['protocolVersion']]
      if (!Array.isArray(versions) || !versions.includes(subject.revision))
        return failed(`the greeting for ${subject.revision} is answered with ${JSON.stringify(versions)}`)
      if (!isObject(result['capabilities'])) return failed('the greeting is answered without capabilities')
      const next = await session.request(session.isModern ? 'server/discover' : 'ping')
      if (next.result !== undefined) return passed
      return unless(next.problem ?? 'the first request after the greeting is answered with an error')
    },
  },
]
