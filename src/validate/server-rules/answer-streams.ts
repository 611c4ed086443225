import { isResponse, member, type Message } from '../message.ts'
import { absent, B_TO_D, unchecked, unless, type Rule, type Transport } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Session } from '../session.ts'
import { callTool } from '../survey.ts'
import { requestTool } from '../tool-call.ts'
import { HttpWire } from '../wire-http.ts'

const HTTP: readonly Transport[] = ['http']
/** How long to wait for a response on the wrong stream. */
const QUIET_MS = 150
/** The most tools that are called, and the most time that one of them took before. */
const MOST_CALLS = 4
const QUICK_MS = 1_000

/** Rules about the stream that a response comes on. */
export const ANSWER_STREAM_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R080',
    level: 'must',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'No response is sent on the GET stream, unless a stream is resumed there.',
    how: 'Opens the GET stream, and sends ping, lists, a read, a prompt and an unknown method.',
    fix: 'Answer each POST in its own reply.',
    async check(subject) {
      const resource = (await subject.list('resources')).find(({ uri }) => typeof uri === 'string')
      const prompt = (await subject.list('prompts')).find(({ name }) => typeof name === 'string')
      const session = await subject.session()
      const get = await openGet(session)
      if (get === undefined) return absent('the server has no GET stream')
      const requests: readonly (readonly [string, Message?])[] = [
        ['ping'],
        ['tools/list'],
        ['validator/unknown'],
        ...(resource === undefined ? [] : [['resources/read', { uri: resource['uri'] }] as const]),
        ...(prompt === undefined ? [] : [['prompts/get', { name: prompt['name'] }] as const]),
      ]
      for (const [method, params] of requests) await session.request(method, params)
      return unless(await strayOn(session, get))
    },
  },
  {
    id: 'V080',
    level: 'must',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'No response to a call is sent on the GET stream (the half of R080 that needs calls).',
    how: 'Opens the GET stream, and calls the quickest tools.',
    fix: 'Answer each POST in its own reply.',
    calls: true,
    async check(subject) {
      const { calls } = await subject.survey()
      const quick = calls
        .filter(({ reply, ms }) => reply.result !== undefined && ms < QUICK_MS)
        .toSorted((one, other) => one.ms - other.ms)
      if (quick.length === 0) return unchecked('no tool answered quickly')
      const session = await subject.session()
      const get = await openGet(session)
      if (get === undefined) return absent('the server has no GET stream')
      for (const { tool, input } of quick.slice(0, MOST_CALLS))
        await requestTool(session, [tool, input], { ms: QUICK_MS })
      return unless(await strayOn(session, get))
    },
  },
  {
    id: 'V081',
    level: 'should',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'Progress of a call is reported on the stream of the call, not on the GET stream.',
    how: 'Opens the GET stream, calls the quickest tool that reports progress, and looks at the GET stream.',
    fix: 'Answer a call that reports progress with a stream of events, and send the reports there before the response.',
    calls: true,
    async check(subject) {
      const heard = await listeningCall(subject)
      if (heard === undefined)
        return unchecked('no tool reported progress quickly, or there is no GET stream')
      const { session, get, token } = heard
      const stray = session.wire.received.find(
        ({ stream, messages }) => stream === get && messages.some((one) => isProgress(one, token)),
      )
      return unless(stray && `progress came on the GET stream: ${stray.text.slice(0, 150)}`)
    },
  },
]

/** Calls the quickest tool that reported progress while the GET stream is open, and looks at what follows; undefined if there is none. */
export function listeningCall(
  subject: ServerSubject,
): Promise<{ readonly session: Session; readonly get: string; readonly token: string } | undefined> {
  return subject.once('call with the GET stream open', async () => {
    const { calls } = await subject.survey()
    const [call] = calls
      .filter(({ reply, asked, ms }) => reply.result !== undefined && asked.length === 0 && ms < QUICK_MS)
      .filter(({ token }) =>
        subject.wires.some((wire) =>
          wire.received.some(({ messages }) => messages.some((one) => isProgress(one, token))),
        ),
      )
      .toSorted((one, other) => one.ms - other.ms)
    if (call === undefined) return undefined
    const session = await subject.session()
    const get = await openGet(session)
    if (get === undefined) return undefined
    const { token } = await callTool(session, call.tool)
    // What comes after the answer to another request is late for sure.
    await session.request('ping')
    await session.wire.wait(() => false, { ms: QUIET_MS })
    return { session, get, token }
  })
}

function isProgress(message: Message, token: string): boolean {
  return (
    message['method'] === 'notifications/progress' && member(message, 'params', 'progressToken') === token
  )
}

/** Whether a response came on a stream, after a moment. */
async function strayOn({ wire }: Session, get: string): Promise<string | undefined> {
  const wrong = await wire.wait(({ stream, messages }) => stream === get && messages.some(isResponse), {
    ms: QUIET_MS,
  })
  return wrong && `a response came on the GET stream: ${wrong.text.slice(0, 150)}`
}

/** Opens the GET stream of a session, and returns its name; undefined if there is none. */
export async function openGet({ wire }: Session): Promise<string | undefined> {
  if (!(wire instanceof HttpWire)) return undefined
  const { isStream, stream } = await wire.get()
  return isStream ? stream : undefined
}
