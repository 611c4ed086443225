import { HTTP_STREAM_RULES } from '../../src/validate/server-rules/http-streams.ts'
import { member } from '../../src/validate/message.ts'
import type { Fault, FaultReply } from './fault.ts'
import { prove } from './prove.ts'
import { STREAM_FAULTS } from './stream-faults.ts'

/** Changes the text of streams of events as it passes. */
function inEvents(change: (block: string) => string): NonNullable<Fault['http']> {
  return async (_request, next) => {
    const reply = await next()
    if (reply.body === null || typeof reply.body === 'string') return reply
    return { ...reply, body: changed(reply.body, change) }
  }
}

function changed(
  body: ReadableStream<Uint8Array>,
  change: (block: string) => string,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => controller.enqueue(encoder.encode(change(decoder.decode(chunk)))),
    }),
  )
}

const event = (message: object): string =>
  `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`

/** A stream of a text that does not end. */
function endless(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) })
}

async function whole({ body }: FaultReply): Promise<string> {
  return typeof body === 'string' || body === null ? (body ?? '') : new Response(body).text()
}

/** A server that closes the stream of a call after these events. */
function hangUp(body: string): NonNullable<Fault['http']> {
  return ({ message }, next) =>
    member(message, 'params', 'name') === 'count'
      ? { status: 200, headers: { 'content-type': 'text/event-stream' }, body }
      : next()
}

/** A message that is longer than what is kept of an event. */
const NOTICE = JSON.stringify({
  jsonrpc: '2.0',
  method: 'notifications/validated',
  params: { x: 'x'.repeat(300) },
})

/** A server that sends something before what it repeats; `more` gets the id of the last ping. */
function resumedWith(more: (ping: unknown) => string): NonNullable<Fault['http']> {
  const pings = new Map<string, unknown>()
  return async ({ method, headers, message }, next) => {
    const session = headers['mcp-session-id'] ?? ''
    if (message?.['method'] === 'ping') pings.set(session, message['id'])
    const reply = await next()
    if (method !== 'GET' || headers['last-event-id'] === undefined || reply.body === null) return reply
    if (typeof reply.body === 'string') return reply
    const first = new TextEncoder().encode(more(pings.get(session)))
    const added = new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => controller.enqueue(first),
    })
    return { ...reply, body: reply.body.pipeThrough(added) }
  }
}

const FAULTS: readonly Fault[] = [
  ...STREAM_FAULTS,
  {
    rule: 'R080',
    does: 'answers on the GET stream',
    http: async ({ method }, next) =>
      method === 'GET'
        ? {
            status: 200,
            headers: { 'content-type': 'text/event-stream' },
            body: endless(event({ id: 77, result: {} })),
          }
        : next(),
  },
  {
    rule: 'R081',
    does: 'repeats on the GET stream what it sends elsewhere',
    http: (() => {
      const notice = event({
        method: 'notifications/message',
        params: { level: 'info', data: 'counted to three' },
      })
      return async ({ method, message }, next) => {
        if (method === 'GET')
          return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: endless(notice) }
        const reply = await next()
        return message?.['method'] === 'tools/call' &&
          reply.headers['content-type']?.startsWith('text/event-stream')
          ? { ...reply, body: notice + (await whole(reply)) }
          : reply
      }
    })(),
  },
  { rule: 'R091', does: 'uses ids twice', http: inEvents((text) => text.replaceAll(/^id: .*$/gm, 'id: 1')) },
  {
    rule: 'R092',
    does: 'repeats other streams',
    http: resumedWith((ping) => event({ id: ping, result: {} })),
  },
  {
    rule: 'R093',
    does: 'begins with a message',
    http: inEvents((text) => text.replaceAll(/^id: .*\ndata: ?\n\n/gm, '')),
  },
  {
    rule: 'R096',
    does: 'closes streams early',
    http: async ({ message }, next) => {
      const reply = await next()
      return message?.['method'] === 'tools/call' &&
        reply.headers['content-type']?.startsWith('text/event-stream')
        ? { ...reply, body: ': nothing\n\n' }
        : reply
    },
  },
  {
    rule: 'R097',
    does: 'leaves streams open',
    http: async ({ message }, next) => {
      const reply = await next()
      return message?.['method'] === 'tools/call' &&
        reply.headers['content-type']?.startsWith('text/event-stream')
        ? { ...reply, body: endless(await whole(reply)) }
        : reply
    },
  },
  {
    rule: 'R094',
    does: 'hangs up without a word',
    http: hangUp('id: 1\ndata:\n\n'),
  },
  {
    rule: 'R098',
    does: 'forgets a call whose connection is lost',
    http: ({ method, headers }, next) =>
      method === 'GET' && headers['last-event-id'] !== undefined
        ? { status: 200, headers: { 'content-type': 'text/event-stream' }, body: ': nothing\n\n' }
        : next(),
  },
  {
    rule: 'R099',
    does: 'sends messages as events of other types',
    http: inEvents(
      (text) => `${text}${text.includes('endpoint') ? `event: hello\ndata: ${NOTICE}\n\n` : ''}`,
    ),
  },
  {
    rule: 'R099',
    does: 'names the address for messages in an event of another type',
    http: inEvents((text) => text.replace('event: endpoint', 'event: address')),
  },
]

/** Servers that are right in another way. */
const VARIANTS: readonly Fault[] = [
  {
    rule: 'R094',
    does: 'says when to come back',
    http: hangUp('id: 1\ndata:\n\nretry: 500\n\n'),
  },
  {
    rule: 'R081',
    does: 'logs the same text for every call',
    message: (message, request) =>
      request?.['method'] === 'tools/call'
        ? [
            {
              jsonrpc: '2.0',
              method: 'notifications/message',
              params: { level: 'info', data: 'called' },
            },
            message,
          ]
        : message,
  },
  {
    rule: 'R092',
    does: 'sends a ping on a resumed stream',
    http: resumedWith(() => event({ id: 'new', method: 'ping' })),
  },
  {
    rule: 'R099',
    does: 'keeps streams open with events',
    http: inEvents((text) => `${text}${text.includes('endpoint') ? 'event: ping\ndata: {"at":1}\n\n' : ''}`),
  },
]

prove('Streams of events', HTTP_STREAM_RULES, FAULTS, VARIANTS)
