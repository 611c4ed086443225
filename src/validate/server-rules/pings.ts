import { A_TO_D, absent, failed, passed, TRANSPORTS, unchecked, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { toolCall } from '../tool-call.ts'
import { HttpWire } from '../wire-http.ts'
import { isResponseTo } from '../wire.ts'
import { slowTool } from './cancelled-call.ts'
import { textOf } from './refusal.ts'

/** How long a call may still run after the ping. */
const REST_MS = 2_000

/** Rules about pings at unusual moments (R040). */
export const PING_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V041',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A ping before initialize is answered with {}, since clients may send pings then.',
    how: 'Opens a connection, and sends ping as the first request. Over HTTP a server may refuse it with a status.',
    fix: 'Answer ping with "result": {} in every state of a connection.',
    async check(subject) {
      const session = await subject.silent()
      const { result, error, problem, http } = await session.request('ping')
      if (http !== undefined && http.status >= 400 && session.wire instanceof HttpWire)
        return absent('requests need a session')
      if (error !== undefined) return failed(`a ping before initialize is answered with ${textOf(error)}`)
      if (result === undefined) return failed(problem ?? 'a ping before initialize gets no response')
      const { result: greeting } = await session.greet()
      return greeting === undefined ? failed('after a ping, initialize is refused') : passed
    },
  },
  {
    id: 'V042',
    level: 'should',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A ping is answered while a call of a tool runs.',
    how: 'Looks for a tool that takes a while, calls it, sends a ping at once, and compares which answer comes first.',
    fix: 'Run tools without holding up the connection: asynchronously, or in a thread of their own.',
    calls: true,
    async check(subject) {
      const session = await subject.session()
      const slow = await slowTool(subject, session)
      if (slow === undefined) return unchecked('no tool takes long enough')
      const { params, headers } = toolCall(session, slow.tool, slow.input)
      const message = session.requestOf('tools/call', params)
      const from = subject.trace.mark
      // Over HTTP there may be no reply before the response.
      void session.wire.send(JSON.stringify(message), { headers }).catch(() => undefined)
      const ping = await session.request('ping')
      const pong = ping.received?.at
      if (pong === undefined || ping.result === undefined)
        return failed(ping.problem ?? `a ping during a call is answered with ${textOf(ping.error)}`)
      const done = await session.wire.wait(isResponseTo(message['id']), {
        from,
        ms: Math.min(subject.ms, slow.ms + REST_MS),
      })
      return done !== undefined && done.at < pong
        ? failed(`a ping is answered only after the call of ${String(slow.tool['name'])}`)
        : passed
    },
  },
]
