import { createServer } from 'node:net'
import { answerTo } from './limit-answer.mjs'
import { announce } from './listening.mjs'

const server = createServer({ noDelay: true }, (socket) => {
  let rest = ''
  socket.setEncoding('utf8')
  socket.on('error', () => {})
  socket.on('data', (piece) => {
    const lines = (rest + piece).split('\n')
    rest = lines.pop()
    let out = ''
    for (const line of lines) {
      const answer = answerTo(line)
      if (answer !== undefined) out += `${answer}\n`
    }
    if (out !== '') socket.write(out)
  })
})
server.listen(0, '127.0.0.1', () => announce(server.address().port))
