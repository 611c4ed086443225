import { member, type Message } from '../../src/validate/message.ts'
import type { Fault, FaultReply } from './fault.ts'

const ID = 'mcp-session-id'
const EVENTS = { 'content-type': 'text/event-stream' }

const eventOf = (message: unknown): Uint8Array =>
  new TextEncoder().encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`)

/** The GET streams of a server, by session. */
class GetStreams {
  readonly #open = new Map<string, ReadableStreamDefaultController<Uint8Array>>()

  /** Takes the place of a stream that the server opens, unless it resumes another one. */
  replace(reply: FaultReply, headers: Readonly<Record<string, string>>): FaultReply {
    if (reply.status !== 200 || headers['last-event-id'] !== undefined) return reply
    if (typeof reply.body !== 'string') void reply.body?.cancel()
    const session = headers[ID] ?? ''
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void this.#open.set(session, controller),
      cancel: () => void this.#open.delete(session),
    })
    return { status: 200, headers: EVENTS, body }
  }

  /** Sends a message on the stream of a session. False if it has none. */
  send(session: string | undefined, message: unknown): boolean {
    const controller = this.#open.get(session ?? '')
    controller?.enqueue(eventOf(message))
    return controller !== undefined
  }
}

/** The messages in a reply. */
async function messagesOf({ body }: FaultReply): Promise<readonly Message[]> {
  const text = typeof body === 'string' ? body : body === null ? '' : await new Response(body).text()
  if (!text.includes('data:')) return text === '' ? [] : [JSON.parse(text) as Message]
  return [...text.matchAll(/^data: ?(\S.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Message)
}

/** Sends the responses to some methods on the GET stream, if there is one. */
function elsewhere(isMeant: (method: unknown) => boolean): NonNullable<Fault['http']> {
  const streams = new GetStreams()
  return async ({ method, headers, message }, next) => {
    const reply = await next()
    if (method === 'GET') return streams.replace(reply, headers)
    if (!isMeant(message?.['method']) || reply.status !== 200) return reply
    const all = await messagesOf(reply)
    const sent = all.map((one) => streams.send(headers[ID], one))
    if (sent.includes(true)) return { status: 202, headers: {}, body: null }
    return {
      ...reply,
      headers: EVENTS,
      body: all.map((one) => new TextDecoder().decode(eventOf(one))).join(''),
    }
  }
}

/** Repeats the responses to some methods on the GET stream. */
function again(isMeant: (method: unknown) => boolean): NonNullable<Fault['http']> {
  const streams = new GetStreams()
  return async ({ method, headers, message }, next) => {
    const reply = await next()
    if (method === 'GET') return streams.replace(reply, headers)
    if (!isMeant(message?.['method']) || reply.status !== 200) return reply
    const all = await messagesOf(reply)
    for (const one of all) if (member(one, 'method') === undefined) streams.send(headers[ID], one)
    return {
      ...reply,
      headers: EVENTS,
      body: all.map((one) => new TextDecoder().decode(eventOf(one))).join(''),
    }
  }
}

/** Reports progress of a call on the GET stream, a moment after the answer to the request that follows it. */
function late(): NonNullable<Fault['http']> {
  const streams = new GetStreams()
  const over = new Map<string | undefined, unknown>()
  return async ({ method, headers, message }, next) => {
    const reply = await next()
    if (method === 'GET') return streams.replace(reply, headers)
    const session = headers[ID]
    const progressToken = over.get(session)
    over.delete(session)
    if (progressToken !== undefined) {
      const params = { progressToken, progress: 99 }
      const report = { jsonrpc: '2.0', method: 'notifications/progress', params }
      setTimeout(() => streams.send(session, report), 20)
    }
    if (message?.['method'] === 'tools/call')
      over.set(session, member(message, 'params', '_meta', 'progressToken'))
    return reply
  }
}

/** Reports the progress of calls on the GET stream, if there is one. */
function reporting(): NonNullable<Fault['http']> {
  const streams = new GetStreams()
  return async ({ method, headers, message }, next) => {
    const reply = await next()
    if (method === 'GET') return streams.replace(reply, headers)
    if (message?.['method'] !== 'tools/call' || reply.status !== 200) return reply
    const all = await messagesOf(reply)
    const rest = all.filter(
      (one) => one['method'] !== 'notifications/progress' || !streams.send(headers[ID], one),
    )
    return {
      ...reply,
      headers: EVENTS,
      body: rest.map((one) => new TextDecoder().decode(eventOf(one))).join(''),
    }
  }
}

/** Servers that answer on the wrong stream. */
export const STREAM_FAULTS: readonly Fault[] = [
  { rule: 'V081', does: 'reports progress on the GET stream', http: reporting() },
  { rule: 'R080', does: 'answers pings on the GET stream', http: elsewhere((method) => method === 'ping') },
  {
    rule: 'R080',
    does: 'answers tools/list on the GET stream',
    http: elsewhere((method) => method === 'tools/list'),
  },
  {
    rule: 'R080',
    does: 'answers unknown methods on the GET stream',
    http: elsewhere((method) => /unknown/.test(String(method))),
  },
  {
    rule: 'R080',
    does: 'answers reads on the GET stream',
    http: elsewhere((method) => method === 'resources/read'),
  },
  {
    rule: 'R080',
    does: 'answers prompts on the GET stream',
    http: elsewhere((method) => method === 'prompts/get'),
  },
  {
    rule: 'R080',
    does: 'repeats the responses to pings on the GET stream',
    http: again((method) => method === 'ping'),
  },
  {
    rule: 'V080',
    does: 'answers calls on the GET stream',
    http: elsewhere((method) => method === 'tools/call'),
  },
  {
    rule: 'V080',
    does: 'repeats the responses to calls on the GET stream',
    http: again((method) => method === 'tools/call'),
  },
]

/** Servers that report progress when a call is over. */
export const LATE_FAULTS: readonly Fault[] = [
  {
    rule: 'R191',
    does: 'reports progress after the response, on the GET stream',
    revisions: ['2025-03-26', '2025-06-18', '2025-11-25'],
    transports: ['http'],
    http: late(),
  },
  {
    rule: 'R191',
    does: 'reports progress after the response',
    transports: ['stdio', 'ws', 'tcp'],
    message: (message, request) => {
      const progressToken = member(request, 'params', '_meta', 'progressToken')
      return member(request, 'params', 'name') === 'count' && progressToken !== undefined
        ? [
            message,
            { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 99 } },
          ]
        : message
    },
  },
]
