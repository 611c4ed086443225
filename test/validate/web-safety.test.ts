import { WEB_SAFETY_RULES } from '../../src/validate/server-rules/web-safety.ts'
import type { Message } from '../../src/validate/message.ts'
import { without, type Fault, type FaultReply } from './fault.ts'
import { prove } from './prove.ts'

const STACK = 'Error: no\n    at handle (/srv/app/server.js:12:34)\n    at run (/srv/app/run.js:5:6)'

/** Adds headers to every reply. */
function withHeaders(headers: Readonly<Record<string, string>>): NonNullable<Fault['http']> {
  return async (_request, next) => {
    const reply = await next()
    return { ...reply, headers: { ...reply.headers, ...headers } }
  }
}

/** Replaces the reply to broken JSON. */
function toBroken(reply: FaultReply): NonNullable<Fault['http']> {
  return (request, next) => (request.body === '{' ? reply : next())
}

/** Lets some strangers in. */
function letIn(name: 'origin' | 'host', pattern: RegExp): NonNullable<Fault['request']> {
  return (request) =>
    pattern.test(request.headers[name] ?? '')
      ? {
          ...request,
          headers:
            name === 'origin'
              ? (without(request.headers, 'origin') as Record<string, string>)
              : { ...request.headers, host: request.url.host },
        }
      : request
}

const FAULTS: readonly Fault[] = [
  {
    rule: 'V030',
    does: 'answers broken JSON with a page',
    http: toBroken({ status: 400, headers: { 'content-type': 'text/html' }, body: '<p>{</p>' }),
  },
  {
    rule: 'V030',
    does: 'answers broken JSON without a type',
    http: toBroken({ status: 400, headers: {}, body: '{' }),
  },
  {
    rule: 'V031',
    does: 'lets caches store replies',
    http: withHeaders({ 'cache-control': 'public, max-age=60' }),
  },
  {
    rule: 'V031',
    does: 'lets caches store replies for an hour',
    http: withHeaders({ 'cache-control': 'max-age=3600' }),
  },
  {
    rule: 'V032',
    does: 'allows credentials for every page',
    async http(request, next) {
      const reply = await next()
      const { origin } = request.headers
      const allowed = {
        'access-control-allow-origin': origin ?? '*',
        'access-control-allow-credentials': 'true',
      }
      return { ...reply, headers: { ...reply.headers, ...allowed } }
    },
  },
  { rule: 'V033', does: 'accepts the Origin null', request: letIn('origin', /^null$/) },
  {
    rule: 'V033',
    does: 'compares the beginning of Origin',
    request: letIn('origin', /^http:\/\/(?:localhost|127\.0\.0\.1)/),
  },
  {
    rule: 'V034',
    does: 'compares the beginning of Host',
    request: letIn('host', /^(?:localhost|127\.0\.0\.1)\./),
  },
  { rule: 'V035', does: 'accepts connections of all pages', welcomes: (origin) => origin !== undefined },
  { rule: 'V035', does: 'accepts connections for all hosts', welcomes: (origin) => origin === undefined },
  {
    rule: 'V036',
    does: 'sends stack traces in errors',
    message: (message) =>
      message['error'] === undefined
        ? message
        : { ...message, error: { ...(message['error'] as Message), data: STACK } },
  },
  {
    rule: 'V036',
    does: 'shows a page with a stack trace',
    transports: ['http'],
    http: toBroken({
      status: 400,
      headers: { 'content-type': 'text/html' },
      body: '<pre>SyntaxError: no<br> &nbsp; &nbsp;at parse (/srv/node_modules/body-parser/json.js:92:19)</pre>',
    }),
  },
]

const VARIANTS: readonly Fault[] = [
  {
    rule: 'V030',
    does: 'answers broken JSON with a page that is not guessed',
    http: toBroken({
      status: 400,
      headers: { 'content-type': 'text/html; charset=utf-8', 'x-content-type-options': 'nosniff' },
      body: '<p>no</p>',
    }),
  },
  { rule: 'V031', does: 'forbids storing', http: withHeaders({ 'cache-control': 'no-store, max-age=0' }) },
  { rule: 'V031', does: 'is for one user', http: withHeaders({ 'cache-control': 'private, max-age=5' }) },
  {
    rule: 'V032',
    does: 'lets all pages read, without credentials',
    http: withHeaders({ 'access-control-allow-origin': '*' }),
  },
]

prove('safety on the web [S1-12-5]', WEB_SAFETY_RULES, FAULTS, VARIANTS)
