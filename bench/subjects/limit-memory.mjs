/** Answers a text with a text, with nothing but the language. */
export function connect(receive) {
  return {
    send(text) {
      const { id, params } = JSON.parse(text)
      if (id === undefined) return
      const sum = params.arguments ? params.arguments.a + params.arguments.b : 0
      const answer = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: String(sum) }] } }
      receive(JSON.stringify(answer))
    },
  }
}
