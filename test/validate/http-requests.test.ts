import { expect, test } from 'vitest'
import type { Transport } from '../../src/validate/rule.ts'
import { HTTP_REQUEST_RULES } from '../../src/validate/server-rules/http-requests.ts'
import { WEB_SAFETY_RULES } from '../../src/validate/server-rules/web-safety.ts'
import { without, type Fault, type FaultReply, type FaultRequest } from './fault.ts'
import { serveEverywhere } from './faulty-door.ts'
import { createFixture } from './fixture.ts'
import { outcomesOf, prove } from './prove.ts'
import { SESSION_FAULTS, SESSION_VARIANTS } from './session-faults.ts'

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

/** Forgets one header of some requests. */
function blindTo(name: string, isMeant: (request: FaultRequest) => boolean): NonNullable<Fault['request']> {
  return (request) =>
    isMeant(request)
      ? {
          ...request,
          headers: Object.fromEntries(Object.entries(request.headers).filter(([one]) => one !== name)),
        }
      : request
}

/** Gives sessions ids of its own, and passes those of the server on. */
function naming(name: (nth: number) => string): Pick<Fault, 'request' | 'http'> {
  const real = new Map<string, string>()
  return {
    request: (request) => {
      const id = real.get(request.headers['mcp-session-id'] ?? '')
      return id === undefined
        ? request
        : { ...request, headers: { ...request.headers, 'mcp-session-id': id } }
    },
    http: async (_request, next) => {
      const reply = await next()
      const id = reply.headers['mcp-session-id']
      if (id === undefined) return reply
      const own = [...real].find(([, one]) => one === id)?.[0] ?? name(real.size + 1)
      real.set(own, id)
      return { ...reply, headers: { ...reply.headers, 'mcp-session-id': own } }
    },
  }
}

const FAULTS: readonly Fault[] = [
  ...SESSION_FAULTS,
  {
    rule: 'R070',
    does: 'looks at the Origin of initialize only',
    request: blindTo('origin', ({ message }) => message?.['method'] !== 'initialize'),
    transports: ['http'],
  },
  {
    rule: 'R070',
    does: 'does not look at the Origin of GET',
    request: blindTo('origin', ({ method }) => method === 'GET'),
    transports: ['http'],
  },
  {
    rule: 'R076',
    does: 'answers responses with 200',
    http: replied(
      ({ message }) => message !== undefined && message['method'] === undefined,
      () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }),
    ),
  },
  {
    rule: 'R077',
    does: 'sends events under the name of JSON',
    http: replied(
      ({ message }) => message?.['method'] === 'tools/call',
      (reply) => ({ ...reply, headers: { ...reply.headers, 'content-type': 'application/json' } }),
    ),
  },
  { rule: 'V082', does: 'counts its sessions', ...naming((nth) => `session-number-${nth}`) },
  { rule: 'V082', does: 'has short ids of sessions', ...naming((nth) => ['', 'x7', 'k2'][nth] ?? `q${nth}`) },
  { rule: 'V082', does: 'has one id for all sessions', ...naming(() => 'the-only-session') },
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
    does: 'says that there is nothing without a session id',
    http: replied(
      ({ message, headers }) => message?.['method'] === 'ping' && headers['mcp-session-id'] === undefined,
      () => ({ status: 404, headers: {}, body: null }),
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
    rule: 'R085',
    does: 'goes on with a session that was ended',
    http: ({ method }, next) => (method === 'DELETE' ? { status: 200, headers: {}, body: null } : next()),
  },
  {
    rule: 'R089',
    does: 'does not look at the version',
    request: seen(({ 'mcp-protocol-version': _, ...others }) => others),
  },
  {
    rule: 'R089',
    does: 'looks at the version of POST only',
    request: (request) =>
      request.method === 'GET'
        ? { ...request, headers: without(request.headers, 'mcp-protocol-version') as Record<string, string> }
        : request,
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

/** Servers that are right in another way. */
const VARIANTS: readonly Fault[] = [
  ...SESSION_VARIANTS,
  {
    rule: 'R085',
    does: 'does not let clients end sessions',
    http: ({ method }, next) => (method === 'DELETE' ? { status: 405, headers: {}, body: null } : next()),
  },
]

prove('Requests over HTTP', HTTP_REQUEST_RULES, FAULTS, VARIANTS)

/** What a rule says about a server that is right. */
async function verdictOf(
  id: string,
  fault: Omit<Fault, 'rule' | 'does'>,
  options: { readonly transport: Transport; readonly headers?: Readonly<Record<string, string>> },
): Promise<string | undefined> {
  const served = await serveEverywhere(createFixture())
  try {
    const rules = [...HTTP_REQUEST_RULES, ...WEB_SAFETY_RULES].filter((rule) => rule.id === id)
    const revision = options.transport === 'sse' ? '2024-11-05' : '2025-11-25'
    const [outcome] = await outcomesOf(served, rules, {
      ...options,
      revision,
      fault: { rule: id, does: '', ...fault },
    })
    return outcome?.is
  } finally {
    await served.close()
  }
}

test('R084 does not concern a server that requires no session id', async () => {
  const fault: Pick<Fault, 'http'> = {
    http: ({ message, headers }, next) =>
      message?.['method'] === 'ping' && headers['mcp-session-id'] === undefined
        ? {
            status: 200,
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ jsonrpc: '2.0', id: message['id'], result: {} }),
          }
        : next(),
  }
  expect(await verdictOf('R084', fault, { transport: 'http' })).toBe('absent')
})

test.each([
  { id: 'R071', transport: 'http' },
  { id: 'V034', transport: 'http' },
  { id: 'R071', transport: 'sse' },
  { id: 'V034', transport: 'sse' },
] as const)(
  '$id is not checked if a server wants a token first, on $transport',
  async ({ id, transport }) => {
    const hosts = new Map<string, string | undefined>()
    const fault: Pick<Fault, 'http'> = {
      http: ({ headers }, next) => {
        if (headers['authorization'] !== undefined) hosts.set(headers['host'] ?? '', headers['authorization'])
        return headers['authorization'] === undefined ? { status: 401, headers: {}, body: null } : next()
      },
    }
    const headers = { Authorization: 'Bearer validated' }
    expect(await verdictOf(id, fault, { transport, headers })).toBe('unchecked')
    // The token goes to the address of the server only.
    expect([...hosts.keys()].filter((host) => !host.startsWith('127.0.0.1:'))).toEqual([])
  },
)
