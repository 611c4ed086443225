import { HTTP_REQUEST_RULES } from '../../src/validate/server-rules/http-requests.ts'
import type { Fault, FaultReply, FaultRequest } from './fault.ts'
import { prove } from './prove.ts'

/** Changes headers before the server sees them. */
function seen(
  change: (headers: Record<string, string>) => Record<string, string>,
): (request: FaultRequest) => FaultRequest {
  return (request) => ({ ...request, headers: change({ ...request.headers }) })
}

/** Changes the reply to some requests. */
function replied(
  isMeant: (request: FaultRequest) => boolean,
  change: (reply: FaultReply) => FaultReply,
): NonNullable<Fault['http']> {
  return async (request, next) => (isMeant(request) ? change(await next()) : next())
}

const FAULTS: readonly Fault[] = [
  { rule: 'R070', does: 'does not look at the Origin', request: seen(({ origin: _, ...others }) => others) },
  {
    rule: 'R071',
    does: 'does not look at the Host',
    http: replied(
      ({ headers }) => headers['host'] === 'evil.example',
      (reply) => ({ ...reply, status: 200 }),
    ),
  },
  {
    rule: 'R072',
    does: 'has no GET at the path',
    http: replied(
      ({ method }) => method === 'GET',
      () => ({ status: 404, headers: {}, body: null }),
    ),
  },
  {
    rule: 'R074',
    does: 'accepts any Accept',
    request: seen((headers) => ({ ...headers, accept: 'application/json, text/event-stream' })),
  },
  {
    rule: 'R075',
    does: 'accepts text',
    request: seen((headers) => ({ ...headers, 'content-type': 'application/json' })),
  },
  {
    rule: 'R076',
    does: 'answers notifications with 200',
    http: replied(
      ({ message }) => message !== undefined && message['id'] === undefined,
      (reply) => ({ ...reply, status: 200 }),
    ),
  },
  {
    rule: 'R076',
    does: 'answers notifications with a body',
    http: replied(
      ({ message }) => message !== undefined && message['id'] === undefined,
      (reply) => ({ ...reply, body: '{}' }),
    ),
  },
  {
    rule: 'R077',
    does: 'sends JSON as text',
    http: replied(
      ({ message }) => message?.['method'] === 'ping',
      (reply) => ({ ...reply, headers: { 'content-type': 'text/plain' } }),
    ),
  },
  {
    rule: 'R079',
    does: 'answers GET with 500',
    http: replied(
      ({ method }) => method === 'GET',
      () => ({ status: 500, headers: {}, body: null }),
    ),
  },
  {
    rule: 'R082',
    does: 'has a session id with a space',
    http: replied(
      ({ message }) => message?.['method'] === 'initialize',
      (reply) => ({ ...reply, headers: { ...reply.headers, 'mcp-session-id': 'a b' } }),
    ),
  },
  {
    rule: 'R084',
    does: 'needs no session id',
    http: replied(
      ({ message, headers }) => message?.['method'] === 'ping' && headers['mcp-session-id'] === undefined,
      () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }),
    ),
  },
  {
    rule: 'R085',
    does: 'answers unknown sessions with 400',
    http: replied(
      ({ message }) => message?.['method'] === 'ping',
      (reply) => (reply.status === 404 ? { ...reply, status: 400 } : reply),
    ),
  },
  {
    rule: 'R089',
    does: 'does not look at the version',
    request: seen(({ 'mcp-protocol-version': _, ...others }) => others),
  },
  {
    rule: 'R090',
    does: 'needs the version',
    http: replied(
      ({ message, headers }) =>
        message?.['method'] === 'ping' && headers['mcp-protocol-version'] === undefined,
      () => ({ status: 400, headers: {}, body: null }),
    ),
  },
  {
    rule: 'R101',
    does: 'serves one request at a time, and refuses others',
    http: (() => {
      let busy = 0
      return async ({ message }, next) => {
        if (message?.['method'] !== 'ping') return next()
        if (busy > 0) return { status: 429, headers: {}, body: null }
        busy++
        await new Promise((resolve) => setTimeout(resolve, 200))
        return next().finally(() => busy--)
      }
    })(),
  },
]

prove('Requests over HTTP', HTTP_REQUEST_RULES, FAULTS)
