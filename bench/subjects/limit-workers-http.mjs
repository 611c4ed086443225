import cluster from 'node:cluster'
import { createServer } from 'node:http'
import { answer } from './limit-answer.mjs'
import { announce, serverOptions } from './listening.mjs'
import { options } from './options.mjs'

/** Bare Node in as many processes, which node:cluster gives connections in turn. */
if (options.workers > 1 && cluster.isPrimary) await startWorkers()
else {
  const server = createServer(serverOptions, (req, res) => {
    let text = ''
    req.setEncoding('utf8')
    req.on('data', (piece) => (text += piece))
    req.on('end', () =>
      answer(text, (body) => {
        res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
        res.end(body)
      }),
    )
  })
  server.listen(0, '127.0.0.1', () => cluster.isPrimary && announce(server.address().port))
}

async function startWorkers() {
  const listening = Array.from({ length: options.workers }, () => {
    const worker = cluster.fork()
    return new Promise((resolve) => void worker.once('listening', ({ port }) => resolve(port)))
  })
  const [port] = await Promise.all(listening)
  announce(port)
}
