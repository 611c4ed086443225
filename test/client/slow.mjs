// A server program that is late, old or both. Each argument names one of its habits.
import { appendFileSync } from 'node:fs'

const [, , log, ...habits] = process.argv
const has = (habit) => habits.includes(habit)
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
let era = 'request'

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'slow', version: '1' },
  }),
  'server/discover': () => ({
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
  }),
  'tools/call': () => ({ resultType: 'complete', content: [{ type: 'text', text: era }] }),
}

function take({ id, method, params }) {
  appendFileSync(log, `${method}\n`)
  if (id === undefined) return
  if (method === 'server/discover') {
    if (has('ignores')) return
    if (has('exits')) process.exit(1)
    if (has('refuses') || era === 'handshake')
      return write({ id, error: { code: -32601, message: 'unknown method' } })
  }
  if (method === 'initialize') {
    if (has('newest')) {
      const data = { supported: ['2026-07-28'], requested: params.protocolVersion }
      return write({ id, error: { code: -32022, message: 'unsupported revision', data } })
    }
    // Some servers serve a connection in one way only once they have answered a handshake.
    if (has('pins')) era = 'handshake'
  }
  write({ id, result: answers[method]?.(params) ?? {} })
}

function serve() {
  let rest = ''
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const line of lines) take(JSON.parse(line))
  })
}

appendFileSync(log, 'started\n')
setTimeout(serve, has('later') ? 4000 : has('late') ? 1500 : 0)
