import { GIST_RULES } from '../../src/validate/server-rules/gist.ts'
import { parsed, type Message } from '../../src/validate/message.ts'
import { without, type Fault, type FaultRequest } from './fault.ts'
import { prove } from './prove.ts'

/** Changes the JSON of replies at a path. */
function at(
  path: string,
  change: (answer: Message, request: FaultRequest) => Message,
): NonNullable<Fault['http']> {
  return async (request, next) => {
    const reply = await next()
    if (!request.url.pathname.startsWith(path) || typeof reply.body !== 'string') return reply
    return { ...reply, body: JSON.stringify(change(parsed(reply.body) as Message, request)) }
  }
}

/** Changes answers with a status. */
function ifStatus(status: string, change: (answer: Message) => Message): (answer: Message) => Message {
  return (answer) => (answer['status'] === status ? change(answer) : answer)
}

const FAULTS: readonly Fault[] = [
  {
    rule: 'V050',
    does: 'answers the handshake with a date',
    http: at('/gist', (answer) =>
      answer['version'] === undefined ? answer : { ...answer, version: '2025-11-25' },
    ),
  },
  {
    rule: 'V050',
    does: 'does not say who it is',
    http: at('/gist', (answer) => without(answer, 'server_id')),
  },
  {
    rule: 'V050',
    does: 'has capabilities that were not offered',
    http: at('/gist', (answer) =>
      answer['capabilities'] === undefined ? answer : { ...answer, capabilities: ['code_exec'] },
    ),
  },
  {
    rule: 'V051',
    does: 'answers errors without the request_id',
    http: at(
      '/gist',
      ifStatus('error', (answer) => without(answer, 'request_id')),
    ),
  },
  {
    rule: 'V051',
    does: 'calls errors successes',
    http: at(
      '/gist',
      ifStatus('error', (answer) => ({ ...answer, status: 'success' })),
    ),
  },
  {
    rule: 'V052',
    does: 'returns no metadata',
    http: at(
      '/gist',
      ifStatus('success', (answer) => without(answer, 'metadata')),
    ),
  },
  {
    rule: 'V052',
    does: 'has a status of its own',
    http: at(
      '/gist',
      ifStatus('success', (answer) => ({ ...answer, status: 'ok' })),
    ),
  },
  {
    rule: 'V053',
    does: 'loses the results of jobs',
    http: at(
      '/jobs',
      ifStatus('success', (answer) => without(answer, 'result')),
    ),
  },
  {
    rule: 'V053',
    does: 'does not say when to ask for a job',
    http: at(
      '/gist',
      ifStatus('in_progress', (answer) => without(answer, 'poll_after')),
    ),
  },
]

prove('envelopes of /gist and jobs [S1-12-4]', GIST_RULES, FAULTS)
