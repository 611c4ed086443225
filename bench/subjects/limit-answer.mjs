/** The answer to a request, with nothing but the language; undefined to what asks for none. */
export function answerTo(text) {
  const { id, params } = JSON.parse(text)
  if (id === undefined) return undefined
  const said = params?.name === undefined ? '0' : resultOf(params)
  return JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: said }] } })
}

function resultOf({ name, arguments: given }) {
  if (name === 'add') return String(given.a + given.b)
  if (name === 'change') return 'changed'
  return name === 'echo' ? given.text : given.text.slice(0, 7)
}
