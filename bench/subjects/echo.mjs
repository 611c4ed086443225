import { once } from 'node:events'
import { connect, createServer } from 'node:net'

// A server that sends every line back, and one connection to it, both in this process.
const server = createServer({ noDelay: true }, (peer) => {
  peer.on('error', () => {})
  peer.on('data', (bytes) => peer.write(bytes))
  peer.unref()
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const socket = connect({ host: '127.0.0.1', port: server.address().port, noDelay: true })
await once(socket, 'connect')
server.unref()
socket.unref()

const waiting = []
let rest = ''
socket.setEncoding('latin1')
socket.on('data', (piece) => {
  const lines = (rest + piece).split('\n')
  rest = lines.pop()
  for (const line of lines) waiting.shift()(line)
})

/** Sends a line over the socket and resolves with the line that comes back. */
export function roundTrip(line) {
  return new Promise((resolve) => {
    waiting.push(resolve)
    socket.write(`${line}\n`)
  })
}
