import { A_TO_D } from '../../src/validate/rule.ts'
import { PING_RULES } from '../../src/validate/server-rules/pings.ts'
import type { Message } from '../../src/validate/message.ts'
import type { Fault, Instead } from './fault.ts'
import { prove } from './prove.ts'

const SERVERS_WITH_STATES = ['stdio', 'sse', 'ws', 'tcp'] as const

/** Answers to pings that come as the first request. */
const early =
  (answer: (ping: Message) => Instead): NonNullable<Fault['answer']> =>
  (message) =>
    message['method'] === 'ping' && message['id'] === 1 ? answer(message) : undefined
const refused = ({ id }: Message): Message => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32_002, message: 'not initialized' },
})

/** A server that does something else with pings while a call runs. */
function busy(during: (ping: Message, waiting: Message[]) => Instead): Pick<Fault, 'answer' | 'message'> {
  const calls = new Set<unknown>()
  const waiting: Message[] = []
  return {
    answer({ id, method }) {
      if (method === 'tools/call') calls.add(id)
      return undefined
    },
    message(message, request) {
      if (request?.['method'] === 'ping' && calls.size > 0) return during(message, waiting)
      if (request?.['method'] !== 'tools/call') return message
      calls.delete(message['id'])
      return [message, ...waiting.splice(0)]
    },
  }
}

const FAULTS: readonly Fault[] = [
  { rule: 'V041', does: 'refuses pings before initialize', answer: early(refused) },
  {
    rule: 'V041',
    does: 'does not answer pings before initialize',
    transports: ['tcp'],
    answer: early(() => ''),
  },
  // Each of them knows the calls of one run.
  ...A_TO_D.flatMap((revision) => [
    ...SERVERS_WITH_STATES.map((transport): Fault => ({
      rule: 'V042',
      does: 'answers pings after calls',
      revisions: [revision],
      transports: [transport],
      ...busy((ping, waiting) => {
        waiting.push(ping)
        return undefined
      }),
    })),
    {
      rule: 'V042',
      does: 'refuses pings during calls',
      revisions: [revision],
      transports: ['http'],
      ...busy(refused),
    } satisfies Fault,
  ]),
]

prove('pings', PING_RULES, FAULTS)
