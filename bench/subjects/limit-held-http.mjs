import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { answer } from './limit-answer.mjs'
import { announce } from './listening.mjs'

const LIST_CHANGED = 'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'
const streams = new Set()

/** Bare `node:http` that keeps the responses to GET open, and writes to all of them after a call of `change`. */
const server = createServer((req, res) => {
  if (req.method === 'GET') {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.flushHeaders()
    streams.add(res)
    res.on('close', () => streams.delete(res))
    return
  }
  let text = ''
  req.setEncoding('utf8')
  req.on('data', (piece) => (text += piece))
  req.on('end', () => {
    if (text.includes('"change"')) for (const stream of streams) stream.write(LIST_CHANGED)
    answer(text, (body) => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length }
      res.writeHead(200, { ...headers, 'mcp-session-id': randomUUID() })
      res.end(body)
    })
    if (!res.headersSent) res.writeHead(202, { 'content-length': 0 }).end()
  })
})
server.listen(0, '127.0.0.1', () => announce(server.address().port))
