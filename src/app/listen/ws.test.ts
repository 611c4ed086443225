import { expect, onTestFinished, test } from 'vitest'
import type { Running } from './listen.ts'
import { createServer } from '../app.ts'
import type { ListenOptions } from '../options.ts'

async function listen(options: ListenOptions): Promise<Running> {
  const running = await createServer({ name: 'x', version: '1', log: () => undefined }).listen({
    onUncaught: 'exit',
    ...options,
  })
  onTestFinished(() => running.close())
  return running
}

test('WebSocket on its own port is served at /mcp on the loopback address by default', async () => {
  const { addresses } = await listen({ ws: { port: 0 } })
  expect(addresses.ws).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/mcp$/)
})

test('on the HTTP port it is served at the HTTP path by default', async () => {
  const same = await listen({ http: { port: 0, path: '/a' }, ws: true })
  expect(same.addresses.ws).toBe(same.addresses.http?.replace('http:', 'ws:'))
  const other = await listen({ http: { port: 0, path: '/a' }, ws: { path: '/b' } })
  expect(other.addresses.ws).toBe(other.addresses.http?.replace('http:', 'ws:').replace('/a', '/b'))
})

test('without HTTP the default port is 3000', async () => {
  // No machine has this address, so it does not matter whether the port is free.
  const ws = { host: '192.0.2.1', hosts: ['mcp.example'] }
  await expect(listen({ ws })).rejects.toThrow('192.0.2.1:3000: this machine has no such address')
  await expect(listen({ ws: { ...ws, port: 3001 } })).rejects.toThrow('192.0.2.1:3001: this machine')
})
