import { HTTP_MODERN_RULES } from '../../src/validate/server-rules/http-modern.ts'
import { inError, type Fault, type FaultReply, type FaultRequest } from './fault.ts'
import { NAME_FAULTS } from './modern-faults.ts'
import { prove } from './prove.ts'
import { refusedWith, refusedWithout } from './refused.ts'

/** Sets headers before the server sees them, from the body. */
function corrected(
  change: (request: FaultRequest) => Record<string, string | undefined>,
): NonNullable<Fault['request']> {
  return (request) => ({
    ...request,
    headers: Object.fromEntries(
      Object.entries({ ...request.headers, ...change(request) }).filter(
        (pair): pair is [string, string] => pair[1] !== undefined,
      ),
    ),
  })
}

function replied(
  isMeant: (request: FaultRequest) => boolean,
  change: (reply: FaultReply) => FaultReply,
): NonNullable<Fault['http']> {
  return async (request, next) => (isMeant(request) ? change(await next()) : next())
}

function withStatus(code: number, status: number): Pick<Fault, 'http'> {
  return {
    http: async (_request, next) => {
      const reply = await next()
      return typeof reply.body === 'string' && reply.body.includes(`"code":${code}`)
        ? { ...reply, status }
        : reply
    },
  }
}

const isDiscover = ({ message }: FaultRequest): boolean => message?.['method'] === 'server/discover'

/** A server without older revisions, with a reply to GET, DELETE or both. */
function newOnly(reply: FaultReply, ...methods: readonly string[]): NonNullable<Fault['http']> {
  return ({ method, message }, next) => {
    if (message?.['method'] === 'initialize')
      return {
        status: 400,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: message['id'],
          error: { code: -32_022, message: 'too old', data: { supported: ['2026-07-28'] } },
        }),
      }
    if (method !== 'GET' && method !== 'DELETE') return next()
    return methods.length === 0 || methods.includes(method) ? reply : { status: 405, headers: {}, body: null }
  }
}

const FAULTS: readonly Fault[] = [
  ...NAME_FAULTS,
  {
    rule: 'R114',
    does: 'does not look at Mcp-Method',
    request: corrected(({ message }) => ({ 'mcp-method': String(message?.['method']) })),
  },
  {
    rule: 'R114',
    does: 'does not look at Mcp-Name',
    request: corrected(({ message }) => {
      const params = message?.['params'] as { name?: string; uri?: string } | undefined
      return { 'mcp-name': params?.name ?? params?.uri }
    }),
  },
  {
    rule: 'R114',
    does: 'does not compare the version',
    request: corrected(({ headers }) =>
      headers['mcp-protocol-version'] === '2099-01-01' ? { 'mcp-protocol-version': '2026-07-28' } : {},
    ),
  },
  {
    rule: 'R115',
    does: 'does not look at the case of values',
    request: corrected(({ headers }) => ({ 'mcp-method': headers['mcp-method']?.toLowerCase() })),
  },
  {
    rule: 'R116',
    does: 'compares names without decoding them',
    message: inError(-32_602, (error) => ({ ...error, code: -32_020 })),
  },
  {
    rule: 'R120',
    does: 'does not look at Mcp-Param',
    request: corrected(({ message }) => ({
      'mcp-param-city': (message?.['params'] as { arguments?: { city?: string } } | undefined)?.arguments
        ?.city,
    })),
  },
  { rule: 'R122', does: 'answers unknown methods with 200', ...withStatus(-32_601, 200) },
  { rule: 'R123', does: 'answers unsupported versions with 200', ...withStatus(-32_022, 200) },
  {
    rule: 'R124',
    does: 'answers notifications with 200',
    http: replied(
      ({ message }) => message?.['method'] === 'notifications/cancelled',
      (reply) => ({ ...reply, status: 200 }),
    ),
  },
  {
    rule: 'R125',
    does: 'adds progress of others',
    message: (message, request) =>
      request?.['method'] === 'tools/call'
        ? [
            {
              jsonrpc: '2.0',
              method: 'notifications/progress',
              params: { progressToken: 'foreign', progress: 1 },
            },
            message,
          ]
        : message,
  },
  {
    rule: 'R126',
    does: 'lets proxies keep events',
    http: replied(
      () => true,
      ({ headers: { 'x-accel-buffering': _, ...headers }, ...reply }) => ({ ...reply, headers }),
    ),
  },
  {
    rule: 'R129',
    does: 'refuses session ids',
    http: replied(
      ({ headers }) => headers['mcp-session-id'] !== undefined,
      () => ({ status: 404, headers: {}, body: null }),
    ),
  },
  {
    rule: 'R129',
    does: 'has no older revision, and opens streams for GET',
    http: newOnly({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: '' }),
  },
  {
    rule: 'R129',
    does: 'has no older revision, and accepts DELETE',
    http: newOnly({ status: 204, headers: {}, body: null }, 'DELETE'),
  },
  {
    rule: 'R130',
    does: 'gives out a session id',
    http: replied(isDiscover, (reply) => ({
      ...reply,
      headers: { ...reply.headers, 'mcp-session-id': 'x' },
    })),
  },
  { rule: 'R131', does: 'does not look at the Origin', request: corrected(() => ({ origin: undefined })) },
  {
    rule: 'R131',
    does: 'looks at the Origin of server/discover only',
    request: corrected(({ message }): Record<string, undefined> =>
      message?.['method'] === 'server/discover' ? {} : { origin: undefined },
    ),
  },
]

/** They refuse requests before they know the id, which is right. */
const WITHOUT_ID: readonly Fault[] = ['R114', 'R120', 'R123'].flatMap((rule): readonly Fault[] => [
  { rule, does: 'refuses without an id', http: refusedWithout('id') },
  { rule, does: 'refuses with null as the id', http: refusedWith({ id: null }) },
])

const VARIANTS: readonly Fault[] = [
  ...WITHOUT_ID,
  { rule: 'R129', does: 'has no older revision', http: newOnly({ status: 405, headers: {}, body: null }) },
]

prove('HTTP at 2026-07-28', HTTP_MODERN_RULES, FAULTS, VARIANTS)
