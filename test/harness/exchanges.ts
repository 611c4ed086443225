import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'

/** A proxy that counts how often one side waits for the other, and can lose an answer. */
export interface ExchangeProxy {
  readonly port: number
  /** The number of exchanges of all connections: one or more requests that are sent at once, and their answers. */
  readonly count: number
  /** Closes the connection instead of passing on the next answer. */
  loseAnswer(): void
  close(): void
}

/** Starts a proxy to a port of this machine. */
export async function exchangeProxy(target: number): Promise<ExchangeProxy> {
  let count = 0
  let isLosing = false
  const sockets = new Set<{ destroy(): unknown }>()
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    let isAsking = false
    near.on('data', (bytes) => {
      if (!isAsking) count++
      isAsking = true
      far.write(bytes)
    })
    far.on('data', (bytes) => {
      isAsking = false
      if (isLosing) near.destroy()
      else near.write(bytes)
      isLosing = false
    })
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    get count() {
      return count
    },
    loseAnswer() {
      isLosing = true
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
