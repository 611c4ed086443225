import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { until } from '../hostile/peer.ts'

/** A server over TCP that closes each connection after it answered one of these methods. */
async function serveBriefly(...last: readonly string[]): Promise<{ readonly url: string; opened: number }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    served.opened++
    createInterface({ input: socket }).on('line', (line) => {
      const { id, method } = JSON.parse(line) as { id?: number; method: string }
      if (id === undefined) return
      const reply = method === 'server/discover' ? { error: NO_METHOD } : { result: resultOf(method) }
      const text = `${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`
      // The first connection stays until the test is ready.
      if (last.includes(method) && served.opened > 1) socket.end(text)
      else socket.write(text)
      if (method === 'ping') socket.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const served = { url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, opened: 0 }
  return served
}

const NO_METHOD = { code: -32601, message: 'unknown method' }

function resultOf(method: string): unknown {
  if (method !== 'initialize') return {}
  const capabilities = { logging: {}, tools: {}, resources: { subscribe: true } }
  return { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'brief', version: '1' } }
}

test.each([
  ['the log level was set again', 'logging/setLevel', { tools: true }],
  ['the resources were subscribed again', 'resources/subscribe', { resources: ['note://one'] }],
])('the delay before the next connection grows if a server closes after %s', async (_, last, watched) => {
  const server = await serveBriefly(last)
  const client = await connect(server.url, { limits: { reconnectFirstMs: 60_000 } })
  onTestFinished(() => client.close())
  if (last === 'logging/setLevel') await client.setLogLevel('info')
  let isReady = false
  const watching = client.watch({ ...watched, onReady: () => (isReady = true) })
  const first = watching.next()
  await until(() => isReady)
  await client.ping()
  await first
  await until(() => server.opened >= 3)
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(server.opened).toBeLessThan(5)
  await client.close()
})
