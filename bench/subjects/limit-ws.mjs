import { WebSocketServer } from 'ws'
import { answerTo } from './limit-answer.mjs'
import { announce } from './listening.mjs'

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false }, () =>
  announce(server.address().port),
)
server.on('connection', (socket) => {
  socket.on('error', () => {})
  socket.on('message', (data) => {
    const answer = answerTo(data.toString('utf8'))
    if (answer !== undefined) socket.send(answer)
  })
})
