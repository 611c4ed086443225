import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { after } from './wire.ts'

/** Stands between a client and a server, and can part them. */
export interface Relay {
  readonly url: string
  /** How many bytes clients sent on each connection, in the order of their coming. */
  readonly sent: readonly number[]
  /** Breaks a connection. */
  cut(at: number): void
}

export async function createRelay(target: string): Promise<Relay> {
  const { hostname: host, port } = new URL(target)
  const sent: number[] = []
  const sockets: Socket[] = []
  const server = createServer((near) => {
    const at = sent.push(0) - 1
    const far = connect({ host, port: Number(port) })
    sockets.push(near)
    near.on('data', (chunk: Buffer) => void (sent[at] = (sent[at] ?? 0) + chunk.length))
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.pipe(other)
      one.on('error', () => undefined)
      one.once('close', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server, 'listening')
  const { port: own } = server.address() as { readonly port: number }
  return { url: `tcp://127.0.0.1:${own}`, sent, cut: (at) => void sockets[at]?.destroy() }
}
