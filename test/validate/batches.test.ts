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

const results = (batch: readonly Message[]): readonly Message[] =>
  batch.flatMap(({ id }) => (id === undefined ? [] : [{ jsonrpc: '2.0', id, result: {} }]))

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
    rule: 'V016',
    does: 'sends its responses in lists',
    message: (message, request) => (request === undefined ? message : JSON.stringify([message])),
  },
]

/** Servers that are right in another way. */
const VARIANTS: readonly Fault[] = [
  { rule: 'R013', does: 'answers one by one', answerText: answering(results) },
  { rule: 'R015', does: 'answers one by one', answerText: answering(results) },
  {
    rule: 'R015',
    does: 'answers in another order',
    answerText: answering((batch) => JSON.stringify(results(batch).toReversed())),
  },
  {
    rule: 'V016',
    does: 'answers a list with a list',
    answerText: answering((batch) => JSON.stringify(results(batch))),
  },
]

prove('Batches', BATCH_RULES, FAULTS, VARIANTS)
