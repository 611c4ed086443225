import { isResponse, type Received } from '../message.ts'
import {
  absent,
  B_TO_D,
  D_ONLY,
  failed,
  passed,
  unchecked,
  unless,
  type Rule,
  type Transport,
  type Verdict,
} from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Session } from '../session.ts'
import { callTool, type SurveyedCall } from '../survey.ts'
import { toolCall } from '../tool-call.ts'
import { HttpWire } from '../wire-http.ts'
import { ANSWER_STREAM_RULES, openGet } from './answer-streams.ts'
import { isEnded } from './broken-streams.ts'
import { NoEndpointError, SseWire } from '../wire-sse.ts'
import { isResponseTo, type HttpReply } from '../wire.ts'

const HTTP: readonly Transport[] = ['http']
/** How long to look for the end of a stream that was closed before. */
const QUIET_MS = 50
/** How long a stream may stay open after its response. */
const CLOSE_MS = 500

/** Rules about streams of events, up to 2025-11-25. */
export const HTTP_STREAM_RULES: readonly Rule<ServerSubject>[] = [
  ...ANSWER_STREAM_RULES,
  {
    id: 'R081',
    level: 'must',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'Each message is sent on one stream only.',
    how: 'Opens the GET stream, calls every tool, and looks for messages that came twice.',
    fix: 'Choose one stream for each message: that of its request, or the GET stream.',
    calls: true,
    async check(subject) {
      const session = await subject.session()
      const get = await openGet(session)
      if (get === undefined) return absent('the server has no GET stream')
      for (const tool of (await subject.callable()).slice(0, 8)) await callTool(session, tool)
      const others = session.wire.received.filter(({ messages }) => !messages.every(isResponse))
      // Calls are made one after the other, so what two of them have in common was meant twice.
      const announced = new Set(others.flatMap(({ stream, text }) => (stream === get ? [text] : [])))
      const twice = others.find(({ stream, text }) => stream !== get && announced.has(text))
      if (twice !== undefined) return failed(`a message came on two streams: ${twice.text.slice(0, 150)}`)
      return others.length > 0 ? passed : unchecked('no tool sent a message besides its response')
    },
  },
  {
    id: 'R091',
    level: 'must',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'The ids of events are unique within a session.',
    how: 'Calls every tool, and looks at the ids of all events.',
    fix: 'Make ids of the stream and a counter.',
    calls: true,
    async check(subject) {
      await subject.survey()
      const { wire } = await subject.forCalls()
      const ids = eventIds(wire)
      if (ids.length === 0) return absent('the server gives events no ids')
      const seen = new Set<string>()
      const twice = ids.find((id) => seen.has(id) || !seen.add(id))
      return unless(twice && `two events have the id ${JSON.stringify(twice)}`)
    },
  },
  {
    id: 'R092',
    level: 'must',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'A stream that is resumed has only what came after the named event on that stream.',
    how: 'Calls a tool, and asks for what came after its first event.',
    fix: 'Keep events by stream, and repeat only those of the stream that Last-Event-ID belongs to.',
    calls: true,
    async check(subject) {
      const session = await subject.session()
      const call = await streamedCall(subject, session)
      const first =
        call === undefined ? undefined : eventsOf(session, call).find(({ eventId }) => eventId !== undefined)
      if (call === undefined || first?.eventId === undefined) return absent('the server gives events no ids')
      // Another stream, whose events must not come.
      await session.request('ping')
      const after = eventsOf(session, call).filter(({ at }) => at > first.at)
      const { wire } = session
      if (!(wire instanceof HttpWire)) return unchecked('this is not HTTP')
      // New messages, such as a ping, may come too.
      const known = new Set(wire.received.map(({ text }) => text))
      const { stream, status } = await wire.get({ headers: { 'last-event-id': first.eventId } })
      if (status !== 200) return absent(`a stream is not resumed: status ${status}`)
      await wire.wait(({ stream: own, messages }) => own === stream && messages.some(isResponse), {
        ms: 1_000,
      })
      const again = wire.received.filter((one) => one.stream === stream)
      const wanted = new Set(after.map(({ text }) => text))
      const foreign = again.find(
        ({ text, messages }) => !wanted.has(text) && (known.has(text) || messages.some(isResponse)),
      )
      if (foreign !== undefined) return failed(`a resumed stream has ${foreign.text.slice(0, 150)}`)
      const repeated = again.filter(({ text }) => wanted.has(text)).length
      return unless(
        repeated < after.length ? `a resumed stream has ${repeated} of ${after.length} messages` : undefined,
      )
    },
  },
  {
    id: 'R093',
    level: 'should',
    revisions: D_ONLY,
    transports: HTTP,
    rule: 'A stream begins with an event that has an id and no data, so that it can be resumed.',
    how: 'Calls a tool, and looks at the first event of its stream.',
    fix: 'Send "id: …" with an empty "data:" first.',
    calls: true,
    async check(subject) {
      const session = await subject.session()
      const call = await streamedCall(subject, session)
      const { wire } = session
      if (call === undefined || !(wire instanceof HttpWire))
        return unchecked('no call was answered with a stream')
      if (eventIds(wire).length === 0) return absent('the server gives events no ids')
      const stream = call.reply.http?.stream
      return unless(
        wire.events.some((event) => event.stream === stream && event.id !== undefined && event.data === '')
          ? undefined
          : 'the stream has no first event with an id and no data',
      )
    },
  },
  {
    id: 'R094',
    level: 'should',
    revisions: D_ONLY,
    transports: HTTP,
    rule: 'A server that closes a stream before the response says first when to come back.',
    how: 'Calls every tool, and looks for streams that end without a response and without "retry".',
    fix: 'Send "retry: …" before you close the connection.',
    calls: true,
    isLast: true,
    async check(subject) {
      const { calls } = await subject.survey()
      const { wire } = await subject.forCalls()
      const left = calls.filter(({ reply }) => reply.http?.isStream && reply.message === undefined)
      const streams = left.flatMap(({ reply: { http } }) => (http === undefined ? [] : [http]))
      const ends = await Promise.all(streams.map((http) => isEnded(http, QUIET_MS)))
      const closed = streams.filter((_, i) => ends[i]).map(({ stream }) => stream)
      if (closed.length === 0) return absent('the server closed no stream before its response')
      return unless(
        wire instanceof HttpWire && closed.some((stream) => !wire.retries.has(stream))
          ? 'a stream was closed before its response, and "retry" was not sent'
          : undefined,
      )
    },
  },
  {
    id: 'R096',
    level: 'should',
    revisions: ['2025-03-26', '2025-06-18'],
    transports: HTTP,
    rule: 'A stream is not closed before the response.',
    how: 'Calls every tool, and looks for streams that end without one.',
    fix: 'Send the response before you end the reply.',
    calls: true,
    isLast: true,
    async check(subject) {
      const { calls } = await subject.survey()
      const streams = calls.filter(({ reply }) => reply.http?.isStream)
      if (streams.length === 0) return unchecked('no call was answered with a stream')
      for (const { reply, tool } of streams)
        // A tool may take longer than we wait; its stream is then still open.
        if (reply.message === undefined && (await wasEnded(reply.http)))
          return failed(`the stream of a call of ${String(tool['name'])} has no response`)
      return passed
    },
  },
  {
    id: 'R097',
    level: 'should',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'A stream is closed after the response.',
    how: 'Calls a tool, and waits for the end of the reply.',
    fix: 'End the reply after the response.',
    calls: true,
    async check(subject) {
      const session = await subject.session()
      const call = await streamedCall(subject, session)
      const http = call?.reply.http
      if (http === undefined) return unchecked('no call was answered with a stream')
      return unless((await isEnded(http, CLOSE_MS)) ? undefined : 'the stream stays open after the response')
    },
  },
  {
    id: 'R098',
    level: 'should',
    revisions: B_TO_D,
    transports: HTTP,
    rule: 'A call goes on when its connection is lost.',
    how: 'Calls a tool, closes the connection after the first event, and resumes the stream.',
    fix: 'Do not take a lost connection for a cancellation; keep the response for the client that comes back.',
    calls: true,
    async check(subject) {
      const { calls } = await subject.survey()
      const slow = calls
        .filter(({ reply }) => reply.http?.isStream && reply.before.length > 0 && reply.result !== undefined)
        .toSorted((one, other) => other.ms - one.ms)[0]
      if (slow === undefined) return unchecked('no call was answered with a stream of several messages')
      for (let attempt = 0; attempt < 3; attempt++) {
        const verdict = await resumedCall(await subject.session(), slow)
        if (verdict !== undefined) return verdict
      }
      return unchecked('every call ended before its connection was closed')
    },
  },
  {
    id: 'R099',
    level: 'must',
    revisions: ['2024-11-05'],
    transports: ['sse'],
    rule: 'The first event names the address for messages, and messages are events of the type message.',
    how: 'Looks at the types of all events.',
    fix: 'Send "event: endpoint" first, and "event: message" for each message.',
    async check(subject) {
      const opened = await subject.connect().catch((error: unknown) => error)
      if (opened instanceof NoEndpointError) return failed(opened.message)
      const { wire } = await subject.shared()
      if (!(wire instanceof SseWire)) return unchecked('this is not HTTP+SSE')
      const [first, ...others] = wire.events
      if (first?.type !== 'endpoint') return failed(`the first event is ${String(first?.type)}`)
      // Other events, such as those that keep a connection open, are no messages.
      const odd = others.find(({ type, isMessage }) => type !== 'message' && isMessage)
      return unless(odd && `a message is an event of the type ${odd.type.slice(0, 50)}`)
    },
  },
]

/** Whether the peer has ended a reply properly. */
export function wasEnded(http: HttpReply | undefined): Promise<boolean> {
  return Promise.race([http?.ended ?? false, new Promise<boolean>((resolve) => setImmediate(resolve, false))])
}

/** Loses the connection of a call, and resumes its stream; undefined if the call was over before. */
async function resumedCall(session: Session, { tool, input }: SurveyedCall): Promise<Verdict | undefined> {
  const { wire } = session
  if (!(wire instanceof HttpWire)) return unchecked('this is not HTTP')
  const { params, headers } = toolCall(session, tool, input)
  const request = session.requestOf('tools/call', params, { meta: { progressToken: 'lost' } })
  const isOur = isResponseTo(request['id'])
  const from = wire.trace.mark
  const { stream, isStream, close } = await wire.send(JSON.stringify(request), {
    headers: { ...session.headersOf(request), ...headers },
  })
  if (!isStream) return undefined
  const first = await wire.wait((one) => one.stream === stream, { from, ms: 1_000 })
  if (first?.eventId === undefined) return absent('the server gives events no ids')
  if (wire.received.some((one) => one.at >= from && isOur(one))) return undefined
  close()
  const resumed = await wire.get({ headers: { 'last-event-id': first.eventId } })
  if (!resumed.isStream) return absent(`a stream is not resumed: status ${resumed.status}`)
  const answer = await wire.wait(isOur, { from, ms: Math.min(session.ms, 3_000) })
  if (answer === undefined) return failed('a call whose connection was lost gets no response')
  return unless(
    answer.messages.some((message) => Object.hasOwn(message, 'error'))
      ? `a call whose connection was lost is answered with ${answer.text.slice(0, 150)}`
      : undefined,
  )
}

/** Calls the quickest tool that was answered with a stream of several messages. */
async function streamedCall(subject: ServerSubject, session: Session): Promise<SurveyedCall | undefined> {
  const { calls } = await subject.survey()
  const [known] = calls
    .filter(({ reply }) => reply.http?.isStream && reply.before.length > 0)
    .toSorted((one, other) => one.ms - other.ms)
  if (known === undefined) return undefined
  const call = await callTool(session, known.tool)
  return call.reply.http?.isStream ? call : undefined
}

/** What came on the stream of a call. */
function eventsOf({ wire }: Session, { reply }: SurveyedCall): readonly Received[] {
  return wire.received.filter(({ stream }) => stream === reply.http?.stream)
}

function eventIds(wire: Session['wire']): readonly string[] {
  if (!(wire instanceof HttpWire)) return []
  const messages = wire.received.flatMap(({ eventId }) => eventId ?? [])
  return [...messages, ...wire.events.flatMap(({ id }) => id ?? [])]
}
