import { addContent, contentOf, isAsync } from './handlers.mjs'

/** Answers a request in plain JavaScript: passes the text of the answer to `send`. A notification has no answer. */
export const answer = isAsync ? answerLater : answerNow

function answerNow(message, send) {
  const { id, params } = JSON.parse(message)
  if (id !== undefined) send(JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(params) }))
}

async function answerLater(message, send) {
  const { id, params } = JSON.parse(message)
  if (id === undefined) return
  const result = await resultOf(params)
  send(JSON.stringify({ jsonrpc: '2.0', id, result }))
}

/** The result of a call, or a promise of it; any other request gets a result too, which no client reads. */
export function resultOf(params) {
  switch (params?.name) {
    case 'add':
      return addContent(params.arguments)
    case 'change':
      return contentOf('changed')
    case 'echo':
      return contentOf(params.arguments.text)
    case 'start':
      return contentOf(params.arguments.text.slice(0, 7))
    default:
      return contentOf('0')
  }
}
