/** Answers text with text in plain JavaScript; a batch of requests gets an array of answers. */
export function connect(receive) {
  return {
    send(text) {
      const message = JSON.parse(text)
      if (Array.isArray(message)) receive(JSON.stringify(message.map(answer)))
      else if (message.id !== undefined) receive(JSON.stringify(answer(message)))
    },
  }
}

function answer({ id, params }) {
  if (!params?.arguments) return { jsonrpc: '2.0', id, result: {} }
  const { a, b } = params.arguments
  return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: String(a + b) }] } }
}
