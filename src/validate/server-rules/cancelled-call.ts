import { unchecked, unless, type Verdict } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Session } from '../session.ts'
import type { SurveyedCall } from '../survey.ts'
import { requestTool, toolCall } from '../tool-call.ts'
import { isResponseTo } from '../wire.ts'

/** Tools that take longer than this can be cancelled. */
const SLOW_MS = 100
/** An answer that comes within this time cannot be cancelled. */
const AT_ONCE_MS = 20
/** How many tools are tried, and how long one may take. */
const MOST_TRIED = 3
const CALL_MS = 2_000

/** A tool that takes a while, with arguments for it. */
type SlowTool = Pick<SurveyedCall, 'tool' | 'input' | 'ms'>

/** Calls a tool that takes a while, cancels the call, and fails if it is answered all the same. */
export async function cancelCall(subject: ServerSubject): Promise<Verdict> {
  const session = await subject.session()
  const slow = await slowTool(subject, session)
  if (slow === undefined) return unchecked('no tool takes long enough to be cancelled')
  const { params, headers } = toolCall(session, slow.tool, slow.input)
  const message = session.requestOf('tools/call', params)
  const from = subject.trace.mark
  // Over HTTP there may be no reply before the response.
  void session.wire.send(JSON.stringify(message), { headers }).catch(() => undefined)
  // Some tools answer sooner the next time.
  const isOur = isResponseTo(message['id'])
  if ((await session.wire.wait(isOur, { from, ms: AT_ONCE_MS })) !== undefined)
    return unchecked('the call was answered before it could be cancelled')
  await session.notify('notifications/cancelled', { requestId: message['id'], reason: 'validation' })
  const late = await session.wire.wait(isOur, { from, ms: Math.min(2_000, slow.ms + 300) })
  return unless(late && 'a call that was cancelled is answered')
}

/** A tool that takes long by itself. The survey calls several at once, and a server may run them one after the other. */
export function slowTool(subject: ServerSubject, session: Session): Promise<SlowTool | undefined> {
  return subject.once('slow tool', () => findSlow(subject, session))
}

async function findSlow(subject: ServerSubject, session: Session): Promise<SlowTool | undefined> {
  const { calls } = await subject.survey()
  const candidates = calls
    .filter(({ reply, ms }) => reply.result !== undefined && ms >= SLOW_MS)
    .toSorted((one, other) => other.ms - one.ms)
  const way = await timeOf(() => session.request(session.isModern ? 'server/discover' : 'ping'))
  for (const { tool, input } of candidates.slice(0, MOST_TRIED)) {
    const times: number[] = []
    // Twice, since calls of the survey may still run.
    while (times.length < 2) {
      let isDone = false
      const ms = await timeOf(async () => {
        const { result } = await requestTool(session, [tool, input], { ms: CALL_MS })
        isDone = result !== undefined && result['resultType'] !== 'input_required'
      })
      if (!isDone) break
      times.push(ms)
    }
    const ms = Math.min(...times)
    if (times.length === 2 && ms - way >= SLOW_MS) return { tool, input, ms }
  }
  return undefined
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
