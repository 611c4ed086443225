import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'

/** A proxy that counts how often one side waits for the other. */
export interface CountingProxy {
  readonly port: number
  /** The number of exchanges of all connections: one or more requests that are sent at once, and their answers. */
  readonly count: number
  close(): void
}

/** Starts a proxy to a port of this machine. */
export async function countExchanges(target: number): Promise<CountingProxy> {
  let count = 0
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
      near.write(bytes)
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
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
