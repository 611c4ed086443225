import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { addContent, isAsync } from './handlers.mjs'
import { announce, serverOptions } from './listening.mjs'
import { options } from './options.mjs'

// The response of our server to one call: its headers, and for each event the text before its message and the message.
const { headers, events } = JSON.parse(readFileSync(options.body, 'utf8'))
const last = events.at(-1)
const earlier = events.slice(0, -1)
// A response whose length is known is sent in one piece.
const isWhole = headers['content-length'] !== undefined

const server = createServer(serverOptions, (req, res) => {
  let text = ''
  req.setEncoding('utf8')
  req.on('data', (piece) => (text += piece))
  req.on('end', () => {
    const { id, method, params } = JSON.parse(text)
    if (method === 'initialize') res.end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
    else call(res, id, params)
  })
})
server.listen(0, '127.0.0.1', () => announce(server.address().port))

const call = isAsync ? callLater : callNow

function callNow(res, id, params) {
  begin(res, params)
  end(res, id, addContent(params.arguments))
}

async function callLater(res, id, params) {
  begin(res, params)
  const result = await addContent(params.arguments)
  end(res, id, result)
}

/** Sends the events before the result. One that only opens the stream has no message. */
function begin(res, { _meta: { progressToken } }) {
  res.writeHead(200, headers)
  if (isWhole) res.cork()
  for (const { before, message } of earlier) {
    if (message !== null) message.params.progressToken = progressToken
    res.write(`${before}${message === null ? '' : JSON.stringify(message)}\n\n`)
  }
}

/** Sends the result, in the message that our server sent. */
function end(res, id, { content }) {
  last.message.id = id
  last.message.result.content = content
  res.write(`${last.before}${JSON.stringify(last.message)}\n\n`)
  res.end()
}
