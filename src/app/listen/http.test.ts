import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '../app.ts'

const app = (): ReturnType<typeof createServer> =>
  createServer({ name: 'x', version: '1', log: () => undefined })

test('HTTP is served at /mcp on the loopback address by default', async () => {
  const running = await app().listen({ onUncaught: 'exit', http: { port: 0 } })
  onTestFinished(() => running.close())
  expect(running.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
})

test('the default port is 3000', async () => {
  // No machine has this address, so it does not matter whether the port is free.
  const listen = (more: object): Promise<unknown> =>
    app().listen({ onUncaught: 'exit', http: { host: '192.0.2.1', hosts: ['mcp.example'], ...more } })
  await expect(listen({})).rejects.toThrow('192.0.2.1:3000: this machine has no such address')
  await expect(listen({ port: 3001 })).rejects.toThrow('192.0.2.1:3001: this machine has no such address')
})
