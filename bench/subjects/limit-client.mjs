import { spawn } from 'node:child_process'
import { about } from './options.mjs'

const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** Calls `add` with only JSON and `fetch`, or JSON and the pipes of a child process. */
export async function connect({ url, command, args }, revision) {
  const { request, notify, close } = url ? overHttp(url) : overPipes(command, args)
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': about,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  let id = 0
  if (revision === '2025-11-25') {
    const params = { protocolVersion: revision, capabilities: {}, clientInfo: about }
    await request({ jsonrpc: '2.0', id, method: 'initialize', params }, {})
    await notify({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }
  const own = { 'mcp-method': 'tools/call', 'mcp-name': 'add' }
  const [_meta, headers] = revision === '2025-11-25' ? [undefined, {}] : [envelope, own]
  return {
    async call(a, b) {
      const params = { name: 'add', arguments: { a, b }, _meta }
      const answer = await request({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params }, headers)
      if (answer.id !== id) throw new Error(`request ${id} was answered as ${answer.id}`)
      return answer.result.content[0].text
    },
    close,
  }

  function overHttp(to) {
    let session = {}
    const post = (message, more) => {
      const fields = { ...types, 'mcp-protocol-version': revision, ...session, ...more }
      return fetch(to, { method: 'POST', headers: fields, body: JSON.stringify(message) })
    }
    return {
      async request(message, more) {
        const response = await post(message, more)
        const id = message.method === 'initialize' && response.headers.get('mcp-session-id')
        if (id) session = { 'mcp-session-id': id }
        return response.json()
      },
      notify: async (message) => void (await (await post(message, {})).text()),
      close: async () => {},
    }
  }
}

function overPipes(command, args) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  let rest = ''
  let receive
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (piece) => {
    rest += piece
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      const line = rest.slice(0, end)
      rest = rest.slice(end + 1)
      receive(JSON.parse(line))
    }
  })
  const notify = (message) => void child.stdin.write(`${JSON.stringify(message)}\n`)
  return {
    request: (message) =>
      new Promise((done) => {
        receive = done
        notify(message)
      }),
    notify,
    close: async () => void child.stdin.end(),
  }
}
