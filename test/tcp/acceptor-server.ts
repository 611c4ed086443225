import cluster from 'node:cluster'
import { createServer } from '../../src/index.ts'

const WORKERS = 3

if (cluster.isPrimary) {
  let ready = 0
  cluster.on('message', (_, url: string) => {
    if (++ready === WORKERS) console.log(url)
  })
  for (let at = 0; at < WORKERS; at++) cluster.fork()
} else {
  const app = createServer({ name: 'acceptor', version: '1' }).tool('who', {}, () => String(process.pid))
  const running = await app.listen({ tcp: { port: 0 } })
  process.send?.(running.addresses.tcp)
}
