import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { answer } from './limit-answer.mjs'
import { announce, serverOptions } from './listening.mjs'
import { options } from './options.mjs'

const prepared = options.body === '' ? undefined : readFileSync(options.body)

const server = createServer(serverOptions, (req, res) => {
  let text = ''
  req.setEncoding('utf8')
  req.on('data', (piece) => (text += piece))
  req.on('end', () => {
    if (prepared) answerPrepared(text, res)
    else answer(text, (body) => respond(res, body, Buffer.byteLength(body)))
  })
})
server.listen(0, '127.0.0.1', () => announce(server.address().port))

function answerPrepared(text, res) {
  JSON.parse(text)
  respond(res, prepared, prepared.length)
}

function respond(res, body, length) {
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
  res.end(body)
}
