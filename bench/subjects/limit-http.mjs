import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { announce } from './listening.mjs'
import { options } from './options.mjs'

const prepared = options.body === '' ? undefined : readFileSync(options.body)

const server = createServer((req, res) => {
  let text = ''
  req.setEncoding('utf8')
  req.on('data', (piece) => (text += piece))
  req.on('end', () => {
    const { id, params } = JSON.parse(text)
    if (prepared) {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': prepared.length })
      res.end(prepared)
      return
    }
    const sum = params.arguments ? params.arguments.a + params.arguments.b : 0
    const answer = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: String(sum) }] } }
    const body = JSON.stringify(answer)
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    res.end(body)
  })
})
server.listen(0, '127.0.0.1', () => announce(server.address().port))
