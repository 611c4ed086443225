import { answer, resultOf } from './limit-answer.mjs'

/** Answers text with text in plain JavaScript; a batch of requests gets an array of answers. */
export function connect(receive) {
  return { send: (text) => (text.startsWith('[') ? receive(batchOf(text)) : answer(text, receive)) }
}

function batchOf(text) {
  const answers = JSON.parse(text).map(({ id, params }) => ({ jsonrpc: '2.0', id, result: resultOf(params) }))
  return JSON.stringify(answers)
}
