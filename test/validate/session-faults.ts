import type { Fault, FaultReply, FaultRequest } from './fault.ts'

const ID = 'mcp-session-id'
const STREAM = { 'content-type': 'text/event-stream' }
const EMPTY: FaultReply = { status: 202, headers: {}, body: null }

const isNote = ({ message }: FaultRequest): boolean =>
  message !== undefined && message['method'] !== undefined && message['id'] === undefined

/** A stream that stays open, with nothing on it. */
const silence = (): FaultReply => ({ status: 200, headers: STREAM, body: new ReadableStream() })

/** Answers some requests without asking the server. */
function instead(
  isMeant: (request: FaultRequest) => boolean,
  reply: () => FaultReply,
): NonNullable<Fault['http']> {
  return (request, next) => (isMeant(request) ? reply() : next())
}

/** Answers some requests with another status if the server refuses them. */
function refusedWith(
  isMeant: (request: FaultRequest) => boolean,
  status: number,
): NonNullable<Fault['http']> {
  return async (request, next) => {
    const reply = await next()
    return isMeant(request) && reply.status >= 400 ? { ...reply, status } : reply
  }
}

/** Gives the errors of one code the status 404. */
function lost(code: number): NonNullable<Fault['http']> {
  return async (_request, next) => {
    const reply = await next()
    const { body } = reply
    return reply.status < 400 && typeof body === 'string' && body.includes(`"code":${code}`)
      ? { ...reply, status: 404 }
      : reply
  }
}

/** Ends every session when one is ended. */
function endingAll(): NonNullable<Fault['http']> {
  let isOver = false
  return async ({ method, headers, message }, next) => {
    if (message?.['method'] === 'initialize') isOver = false
    if (isOver && headers[ID] !== undefined && method === 'POST')
      return { status: 404, headers: {}, body: null }
    const reply = await next()
    if (method === 'DELETE' && reply.status < 300) isOver = true
    return reply
  }
}

/** Ends a session, and goes on with its streams or notifications. */
function goingOnWith(
  isMeant: (request: FaultRequest) => boolean,
  reply: () => FaultReply,
): NonNullable<Fault['http']> {
  const ended = new Set<string>()
  return async (request, next) => {
    const id = request.headers[ID] ?? ''
    if (ended.has(id) && isMeant(request)) return reply()
    const own = await next()
    if (request.method === 'DELETE' && own.status < 300) ended.add(id)
    return own
  }
}

const isUnknown = ({ headers }: FaultRequest): boolean => /^0{8}-/.test(headers[ID] ?? '')
const isWithout = ({ headers, message }: FaultRequest): boolean =>
  headers[ID] === undefined && message?.['method'] !== 'initialize'

/** Servers whose sessions are wrong for other requests than those that are answered. */
export const SESSION_FAULTS: readonly Fault[] = [
  {
    rule: 'V082',
    does: 'gives out another session id with each reply',
    http: async (_request, next) => {
      const reply = await next()
      return reply.headers[ID] === undefined
        ? { ...reply, headers: { ...reply.headers, [ID]: '11111111-1111-4111-8111-111111111111' } }
        : reply
    },
  },
  {
    rule: 'R084',
    does: 'accepts notifications without a session id',
    http: instead(
      (one) => isNote(one) && isWithout(one),
      () => EMPTY,
    ),
  },
  {
    rule: 'R084',
    does: 'opens streams without a session id',
    http: instead((one) => one.method === 'GET' && isWithout(one), silence),
  },
  {
    rule: 'R084',
    does: 'accepts DELETE without a session id',
    http: instead(
      (one) => one.method === 'DELETE' && isWithout(one),
      () => ({ ...EMPTY, status: 200 }),
    ),
  },
  {
    rule: 'R084',
    does: 'answers notifications without a session id with 404',
    http: refusedWith((one) => isNote(one) && isWithout(one), 404),
  },
  {
    rule: 'R084',
    does: 'answers GET without a session id with 404',
    http: refusedWith((one) => one.method === 'GET' && isWithout(one), 404),
  },
  {
    rule: 'R085',
    does: 'accepts notifications with an unknown session id',
    http: instead(
      (one) => isNote(one) && isUnknown(one),
      () => EMPTY,
    ),
  },
  {
    rule: 'R085',
    does: 'opens streams for an unknown session id',
    http: instead((one) => one.method === 'GET' && isUnknown(one), silence),
  },
  {
    rule: 'R085',
    does: 'accepts DELETE with an unknown session id',
    http: instead(
      (one) => one.method === 'DELETE' && isUnknown(one),
      () => ({ ...EMPTY, status: 200 }),
    ),
  },
  {
    rule: 'R085',
    does: 'answers GET with an unknown session id with 400',
    http: refusedWith((one) => one.method === 'GET' && isUnknown(one), 400),
  },
  {
    rule: 'R085',
    does: 'accepts notifications in a session that was ended',
    http: goingOnWith(isNote, () => EMPTY),
  },
  {
    rule: 'R085',
    does: 'opens streams in a session that was ended',
    http: goingOnWith(({ method }) => method === 'GET', silence),
  },
  {
    rule: 'V085',
    does: 'answers unknown methods with 404',
    http: lost(-32_601),
  },
  {
    rule: 'V085',
    does: 'answers wrong parameters with 404',
    http: lost(-32_602),
  },
  {
    rule: 'V085',
    does: 'answers notifications that it does not know with 404',
    http: instead(
      ({ message, headers }) =>
        message?.['method'] === 'notifications/validator' && headers[ID] !== undefined,
      () => ({ status: 404, headers: {}, body: null }),
    ),
  },
  { rule: 'V085', does: 'ends all sessions with one', http: endingAll() },
  {
    rule: 'V085',
    does: 'ends a session at a DELETE for another',
    http: (() => {
      let last = ''
      return async (request, next) => {
        const id = request.headers[ID] ?? ''
        if (request.method === 'DELETE' && isUnknown(request)) last = 'all'
        if (last === 'all' && id !== '' && request.method === 'POST')
          return { status: 404, headers: {}, body: null }
        if (request.message?.['method'] === 'initialize') last = ''
        return next()
      }
    })(),
  },
  {
    rule: 'V087',
    does: 'fails at DELETE',
    http: instead(
      ({ method }) => method === 'DELETE',
      () => ({ status: 500, headers: {}, body: null }),
    ),
  },
  {
    rule: 'V087',
    does: 'answers DELETE with a page',
    http: instead(
      ({ method, headers }) =>
        method === 'DELETE' && headers[ID] !== undefined && !/^0{8}-/.test(headers[ID]),
      () => ({ status: 302, headers: { location: '/' }, body: null }),
    ),
  },
]

/** Servers that are right in another way. */
export const SESSION_VARIANTS: readonly Fault[] = [
  {
    rule: 'R084',
    does: 'has no GET stream and no DELETE',
    http: instead(
      ({ method }) => method !== 'POST',
      () => ({ ...EMPTY, status: 405 }),
    ),
  },
  {
    rule: 'R085',
    does: 'has no GET stream and no DELETE',
    http: instead(
      ({ method }) => method !== 'POST',
      () => ({ ...EMPTY, status: 405 }),
    ),
  },
  {
    rule: 'V087',
    does: 'does not let clients end sessions',
    http: instead(
      ({ method }) => method === 'DELETE',
      () => ({ ...EMPTY, status: 405 }),
    ),
  },
]
