import { BATCH_RULES } from '../../src/validate/server-rules/batches.ts'
import { parsed, type Message } from '../../src/validate/message.ts'
import type { Fault, Instead } from './fault.ts'
import { prove } from './prove.ts'

/** A server that answers batches in its own way. */
function answering(answer: (batch: readonly Message[]) => Instead): NonNullable<Fault['answerText']> {
  return (text) => {
    const batch = parsed(text)
    return Array.isArray(batch) ? answer(batch as readonly Message[]) : undefined
  }
}

const requestsOf = (batch: readonly Message[]): readonly Message[] =>
  batch.filter((one) => one['id'] !== undefined && one['method'] !== undefined)

/** The right answer to a request, with any id. */
const answerTo = ({ method }: Message, id: unknown): Message =>
  method === 'ping'
    ? { jsonrpc: '2.0', id, result: {} }
    : { jsonrpc: '2.0', id, error: { code: -32_601, message: 'no such method' } }

const results = (batch: readonly Message[]): readonly Message[] =>
  requestsOf(batch).map(({ id }) => ({ jsonrpc: '2.0', id, result: {} }))

const FAULTS: readonly Fault[] = [
  {
    rule: 'R013',
    does: 'knows no batches',
    answerText: answering(() => ({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_600, message: 'a list is not a message' },
    })),
  },
  {
    rule: 'R013',
    does: 'answers only the first request',
    answerText: answering((batch) => JSON.stringify(results(batch).slice(0, 1))),
  },
  {
    rule: 'R014',
    does: 'takes initialize from a batch',
    answerText: answering((batch) => JSON.stringify(results(batch))),
  },
  {
    rule: 'R015',
    does: 'also answers notifications',
    answerText: answering((batch) =>
      JSON.stringify(batch.map(({ id = null }) => ({ jsonrpc: '2.0', id, result: {} }))),
    ),
  },
  {
    rule: 'R015',
    does: 'answers twice',
    answerText: answering((batch) => JSON.stringify([...results(batch), ...results(batch)])),
  },
  {
    rule: 'R013',
    does: 'answers a list of notifications with an empty list',
    answerText: answering((batch) =>
      batch.every((one) => one?.['method'] !== undefined && one['id'] === undefined) ? '[]' : undefined,
    ),
  },
  {
    rule: 'R013',
    does: 'answers a list of responses with an error',
    answerText: answering((batch) =>
      batch.length > 0 && batch.every((one) => one?.['result'] !== undefined)
        ? { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'no request' } }
        : undefined,
    ),
  },
  {
    rule: 'R013',
    does: 'refuses a list of responses over HTTP',
    transports: ['http'],
    http: ({ body }, next) =>
      body.startsWith('[') && !body.includes('"method"') ? { status: 400, headers: {}, body: null } : next(),
  },
  {
    rule: 'R013',
    does: 'answers a list of notifications with 200',
    transports: ['http'],
    http: async ({ body }, next) => {
      const reply = await next()
      return body.startsWith('[') && reply.status === 202 ? { ...reply, status: 200 } : reply
    },
  },
  {
    rule: 'R015',
    does: 'swaps the ids of its answers',
    answerText: answering((batch) => {
      const requests = batch.filter((one) => one?.['id'] !== undefined && one['method'] !== undefined)
      return requests.length < 2
        ? undefined
        : JSON.stringify(
            requests.map((_, at) => answerTo(requests[at] as Message, requests.at(-1 - at)?.['id'])),
          )
    }),
  },
  {
    rule: 'R015',
    does: 'turns ids in lists into texts',
    answerText: answering((batch) =>
      JSON.stringify(requestsOf(batch).map((one) => answerTo(one, String(one['id'])))),
    ),
  },
  {
    rule: 'R015',
    does: 'knows every method in a list',
    answerText: answering((batch) => JSON.stringify(results(batch))),
  },
  {
    rule: 'V015',
    does: 'takes an empty list for a list of notifications',
    answerText: answering((batch) => (batch.length === 0 ? '' : undefined)),
  },
  {
    rule: 'V015',
    does: 'answers an empty list with an empty list',
    answerText: answering((batch) => (batch.length === 0 ? '[]' : undefined)),
  },
  {
    rule: 'V015',
    does: 'passes over entries that are not messages',
    answerText: answering((batch) =>
      batch.some((one) => typeof one !== 'object' || one === null)
        ? JSON.stringify(results(batch.filter((one) => typeof one === 'object' && one !== null)))
        : undefined,
    ),
  },
  {
    rule: 'V015',
    does: 'says nothing to a list with an entry that is not a message',
    answerText: answering((batch) =>
      batch.some((one) => typeof one !== 'object' || one === null) ? '' : undefined,
    ),
  },
  {
    rule: 'V015',
    does: 'answers null in a list with an internal error',
    answerText: answering((batch) =>
      batch.includes(null as never)
        ? { jsonrpc: '2.0', id: null, error: { code: -32_603, message: 'cannot read properties of null' } }
        : undefined,
    ),
  },
  {
    rule: 'V016',
    does: 'sends its responses in lists',
    message: (message, request) => (request === undefined ? message : JSON.stringify([message])),
  },
]

/** Servers that are right in another way. */
const VARIANTS: readonly Fault[] = [
  { rule: 'R013', does: 'answers one by one', answerText: answering(results) },
  {
    rule: 'R015',
    does: 'answers one by one',
    answerText: answering((batch) => requestsOf(batch).map((one) => answerTo(one, one['id']))),
  },
  {
    rule: 'R015',
    does: 'answers in another order',
    answerText: answering((batch) =>
      JSON.stringify(
        requestsOf(batch)
          .map((one) => answerTo(one, one['id']))
          .toReversed(),
      ),
    ),
  },
  {
    rule: 'V015',
    does: 'refuses the whole list',
    answerText: answering(() => ({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_600, message: 'not a list of messages' },
    })),
  },
  {
    rule: 'V016',
    does: 'answers a list with a list',
    answerText: answering((batch) => JSON.stringify(results(batch))),
  },
]

prove('Batches', BATCH_RULES, FAULTS, VARIANTS)
