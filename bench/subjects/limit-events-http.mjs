import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { announce } from './listening.mjs'
import { options } from './options.mjs'

// The response of our server to one call: its headers, and for each event the text before its message and the message.
const { headers, events } = JSON.parse(readFileSync(options.body, 'utf8'))

const server = createServer((req, res) => {
  let text = ''
  req.setEncoding('utf8')
  req.on('data', (piece) => (text += piece))
  req.on('end', () => {
    const { id, method, params } = JSON.parse(text)
    if (method === 'initialize') return res.end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
    res.writeHead(200, headers)
    for (const { before, message } of events) res.write(`${before}${filledIn(message, id, params)}\n\n`)
    return res.end()
  })
})
server.listen(0, '127.0.0.1', () => announce(server.address().port))

/** The text of a message, filled in for this request; an event that only opens the stream has no message. */
function filledIn(message, id, { arguments: operands, _meta }) {
  if (message === null) return ''
  if (message.id === undefined) message.params.progressToken = _meta.progressToken
  else {
    message.id = id
    message.result.content[0].text = String(operands.a + operands.b)
  }
  return JSON.stringify(message)
}
