import { createServer } from 'node:net'
import { answer } from './limit-answer.mjs'
import { announce } from './listening.mjs'

const server = createServer({ noDelay: true }, (socket) => {
  let rest = ''
  let out = ''
  // Answers that are ready in the same turn are written together.
  const send = (text) => {
    if (out === '') queueMicrotask(flush)
    out += `${text}\n`
  }
  const flush = () => {
    socket.write(out)
    out = ''
  }
  socket.setEncoding('utf8')
  socket.on('error', () => {})
  socket.on('data', (piece) => {
    const lines = (rest + piece).split('\n')
    rest = lines.pop()
    for (const line of lines) answer(line, send)
  })
})
server.listen(0, '127.0.0.1', () => announce(server.address().port))
