/** The answer to a request, in plain JavaScript; undefined for a notification. */
export function answerTo(message) {
  const { id, params } = JSON.parse(message)
  if (id === undefined) return undefined
  const text = params?.name === undefined ? '0' : resultOf(params)
  return JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })
}

function resultOf({ name, arguments: input }) {
  if (name === 'add') return String(input.a + input.b)
  if (name === 'change') return 'changed'
  return name === 'echo' ? input.text : input.text.slice(0, 7)
}
