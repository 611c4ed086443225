import { isResponse, member, type Message } from '../message.ts'
import { ALL, failed, passed, TRANSPORTS, unchecked, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Session } from '../session.ts'
import type { SurveyedCall } from '../survey.ts'
import { requestTool } from '../tool-call.ts'

type Id = string | number

/** Ids and tokens of all kinds: large and negative numbers, and texts that are easily converted, cut off or written in another way. */
const IDS: readonly Id[] = [
  4_711,
  0,
  -7,
  2 ** 40 + 1,
  'a text',
  '42',
  'Ünïcode ✓',
  ' Spaces ',
  'x'.repeat(200),
  '',
]
/** A tool that takes longer than this is called with all tokens at once. */
const SLOW_MS = 300
/** How long to wait for reports of progress after the response. */
const QUIET_MS = 100

/** The rule about ids, and the same for tokens of progress. */
export const ID_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R005',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A response has the id of its request, with the same JSON type.',
    how: 'Sends requests with numbers and texts as ids: negative, large, a number in quotes, with other letters, with spaces, long and empty; then requests for an unknown method.',
    fix: 'Return the id exactly as it came; never convert it.',
    async check(subject) {
      const session = await subject.silent()
      await session.greet()
      const method = subject.isModern ? 'server/discover' : 'ping'
      for (const id of IDS) {
        const found = await otherId(session, method, id)
        if (found !== undefined) return failed(found)
      }
      for (const id of [-8, 'Éa']) {
        const found = await otherId(session, 'validator/unknown', id)
        if (found !== undefined) return failed(found)
      }
      return passed
    },
  },
  {
    id: 'V190',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Reports of progress have the token of their request, with the same JSON type.',
    how: 'Calls the quickest tool that reports progress again, with numbers and texts as tokens.',
    fix: 'Return the progressToken exactly as it came; never convert it.',
    calls: true,
    async check(subject) {
      const { calls } = await subject.survey()
      const [call] = calls
        .filter(({ reply, asked }) => reply.result !== undefined && asked.length === 0)
        .filter(({ reply, token }) => reply.before.some(({ messages }) => messages.some(isProgressOf(token))))
        .toSorted((one, other) => one.ms - other.ms)
      if (call === undefined) return unchecked('no tool that needs no answers sent progress')
      const session = await subject.session()
      for (const given of call.ms > SLOW_MS ? [IDS] : IDS.map((token) => [token])) {
        const found = await otherToken({ session, call, given })
        if (found !== undefined) return failed(found)
      }
      return passed
    },
  },
]

interface Tokens {
  readonly session: Session
  readonly call: SurveyedCall
  /** The tokens of calls that are made at once. */
  readonly given: readonly Id[]
}

/** What is wrong with the tokens in reports of progress; undefined if they are those of the calls. */
async function otherToken({ session, call, given }: Tokens): Promise<string | undefined> {
  const from = session.wire.trace.mark
  const { tool, input } = call
  await Promise.all(
    given.map((progressToken) => requestTool(session, [tool, input], { meta: { progressToken } })),
  )
  await session.wire.wait(({ messages }) => messages.some(isProgress), { from, ms: QUIET_MS })
  const tokens = session.wire
    .messagesFrom(from)
    .flatMap((message) => (isProgress(message) ? [member(message, 'params', 'progressToken')] : []))
  const at = tokens.findIndex((token) => !given.some((one) => one === token))
  return at < 0
    ? undefined
    : `progress for the token ${given.map(shown).join(', ')} is reported with ${shown(tokens[at])}`
}

function isProgress({ method }: Message): boolean {
  return method === 'notifications/progress'
}

function isProgressOf(token: string): (message: Message) => boolean {
  return (message) => isProgress(message) && member(message, 'params', 'progressToken') === token
}

/** What is wrong with the id of the response to a request; undefined if it is the same. */
async function otherId(session: Session, method: string, id: string | number): Promise<string | undefined> {
  const from = session.wire.trace.mark
  const { message, problem } = await session.request(method, undefined, {
    id,
    ms: Math.min(session.ms, 2_000),
  })
  // The error of a refused POST needs no id.
  if (message !== undefined && (message['id'] === id || (message['id'] ?? null) === null)) return undefined
  const other = session.wire.messagesFrom(from).find(isResponse)
  return other === undefined
    ? `a request with the id ${shown(id)} gets no response: ${problem ?? ''}`
    : `a request with the id ${shown(id)} is answered with the id ${shown(other['id'])}`
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
