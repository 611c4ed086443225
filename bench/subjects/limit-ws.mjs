import { WebSocketServer } from 'ws'
import { answer } from './limit-answer.mjs'
import { announce } from './listening.mjs'

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false }, () =>
  announce(server.address().port),
)
server.on('connection', (socket, { socket: stream }) => {
  let isCorked = false
  // Frames that are ready in the same turn are written together.
  const send = (text) => {
    if (!isCorked) {
      isCorked = true
      stream.cork()
      queueMicrotask(flush)
    }
    socket.send(text)
  }
  const flush = () => {
    isCorked = false
    stream.uncork()
  }
  socket.on('error', () => {})
  socket.on('message', (data) => answer(data.toString('utf8'), send))
})
