// A server that gives back all that was written to it.
let written = ''
let rest = ''
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'recorder', version: '1' },
  }),
  'server/discover': () => ({
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
  }),
  'tools/call': () => ({ content: [{ type: 'text', text: written }] }),
}

process.stdin.setEncoding('utf8')
process.stdin.on('data', (chunk) => {
  written += chunk
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line)
    if (params?.name === 'hold') process.stderr.write('holding\n')
    else if (method === 'server/discover' && process.argv.includes('old'))
      write({ id, error: { code: -32601, message: 'unknown method' } })
    else if (id !== undefined) write({ id, result: answers[method]?.(params) ?? {} })
  }
})
