let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (piece) => {
  const lines = (rest + piece).split('\n')
  rest = lines.pop()
  let out = ''
  for (const line of lines) {
    const { id, params } = JSON.parse(line)
    if (id === undefined) continue
    const sum = params.arguments ? params.arguments.a + params.arguments.b : 0
    const answer = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: String(sum) }] } }
    out += `${JSON.stringify(answer)}\n`
  }
  process.stdout.write(out)
})
