import { isRevision, REVISIONS } from '../../protocol/revisions.ts'
import { member } from '../message.ts'
import { A_TO_D, failed, passed, TRANSPORTS, unchecked, unless, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Reply } from '../session.ts'
import { initializeMessage, textOf, UNKNOWN_VERSION } from './refusal.ts'
import { wrongInGreeting } from './greeting.ts'
import { NEGOTIATED_RULES } from './negotiated.ts'

/** How long to wait for messages that must not come. */
const QUIET_MS = 150

export const LIFECYCLE_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R031',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'The result of initialize has protocolVersion, capabilities and serverInfo with a name and a version.',
    how: 'Sends initialize, and looks at the result.',
    fix: 'Return { protocolVersion, capabilities: {}, serverInfo: { name, version } }.',
    async check(subject) {
      const { result, error, problem } = await (await subject.silent()).greet()
      if (result === undefined)
        return failed(problem ?? `initialize is answered with an error: ${textOf(error)}`)
      const wrong = [
        typeof result['protocolVersion'] === 'string' ? [] : ['protocolVersion'],
        wrongInGreeting(result),
        typeof member(result, 'serverInfo', 'name') === 'string' ? [] : ['serverInfo.name'],
        typeof member(result, 'serverInfo', 'version') === 'string' ? [] : ['serverInfo.version'],
      ].flat()
      return unless(wrong.length === 0 ? undefined : `initialize returns no proper ${wrong.join(', ')}`)
    },
  },
  {
    id: 'R032',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A supported version is echoed; for an unknown one the server offers one of its own, not an error.',
    how: `Sends initialize with this revision, with ${UNKNOWN_VERSION}, and with the version that is offered for it.`,
    fix: 'Return the requested version if you support it, otherwise your latest one.',
    async check(subject) {
      const own = (await (await subject.silent()).greet()).result?.['protocolVersion']
      if (own !== subject.revision)
        return failed(`${subject.revision} is answered with ${JSON.stringify(own)}`)
      const { result, error, problem } = await initialize(subject, UNKNOWN_VERSION)
      if (result === undefined)
        return failed(problem ?? `${UNKNOWN_VERSION} is answered with an error: ${textOf(error)}`)
      const offered = result['protocolVersion']
      if (typeof offered !== 'string' || offered === UNKNOWN_VERSION)
        return failed(`${UNKNOWN_VERSION} is answered with ${JSON.stringify(offered)}`)
      if (offered === own) return passed
      const echoed = (await initialize(subject, offered)).result?.['protocolVersion']
      return unless(
        echoed === undefined || echoed === offered
          ? undefined
          : `the server offers ${JSON.stringify(offered)}, and answers it with ${JSON.stringify(echoed)}`,
      )
    },
  },
  {
    id: 'R033',
    level: 'should',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'The version offered for an unknown one is the latest that the server supports.',
    how: `Sends initialize with every revision, and with ${UNKNOWN_VERSION}.`,
    fix: 'Offer your latest version.',
    async check(subject) {
      const { result } = await initialize(subject, UNKNOWN_VERSION)
      const offered = result?.['protocolVersion']
      if (!isRevision(offered)) return unchecked(`the server offers ${JSON.stringify(offered)}`)
      for (const newer of REVISIONS.filter((one) => one > offered && one !== '2026-07-28')) {
        const echoed = (await initialize(subject, newer)).result?.['protocolVersion']
        if (echoed === newer) return failed(`the server offers ${offered}, but also supports ${newer}`)
      }
      return passed
    },
  },
  {
    id: 'R037',
    level: 'should',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'Before notifications/initialized the server sends nothing but pings and log messages.',
    how: 'Sends initialize, waits a moment, and looks at what comes besides the result.',
    fix: 'Send notifications and requests only after notifications/initialized.',
    async check(subject) {
      const session = await subject.silent()
      const from = subject.trace.mark
      await initializeOn(session, subject.revision)
      await session.wire.wait(() => false, { ms: QUIET_MS })
      const early = session.wire
        .messagesFrom(from)
        .find(({ method }) => method !== undefined && method !== 'ping' && method !== 'notifications/message')
      return unless(
        early && `the server sent ${String(early['method'])} before it was told that the client is ready`,
      )
    },
  },
  ...NEGOTIATED_RULES,
  {
    id: 'R040',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'ping is answered promptly with an empty result.',
    how: 'Sends ping.',
    fix: 'Answer ping with "result": {}.',
    async check(subject) {
      const { result, error, problem } = await (await subject.shared()).request('ping')
      if (result === undefined) return failed(problem ?? `ping is answered with an error: ${textOf(error)}`)
      const more = Object.keys(result).filter((key) => key !== '_meta')
      return unless(more.length === 0 ? undefined : `the result of ping has ${more.slice(0, 5).join(', ')}`)
    },
  },
]

function initializeOn(
  session: Awaited<ReturnType<ServerSubject['silent']>>,
  version: string,
): Promise<Reply> {
  return session.exchange(initializeMessage(session.newId(), version))
}

/** Sends initialize with any version on a connection of its own. */
async function initialize(subject: ServerSubject, version: string): Promise<Reply> {
  return initializeOn(await subject.silent(), version)
}
