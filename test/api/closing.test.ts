import { expect, onTestFinished, test, vi } from 'vitest'
import { createServer } from '../../src/index.ts'
import { Endpoint } from '../../src/transport/http/server/endpoint.ts'

test('a transport that fails to close keeps neither the others open nor onStop from running', async () => {
  const seen: string[] = []
  const app = createServer({ name: 'x', version: '1', onStop: () => void seen.push('stopped') })
  const running = await app.listen({ http: { port: 0 }, tcp: { port: 0 } })
  const broken = new Error('the stream of a session could not be ended')
  const close = vi.spyOn(Endpoint.prototype, 'close').mockRejectedValueOnce(broken)
  onTestFinished(async () => {
    close.mockRestore()
    await app.close()
  })
  await expect(running.close()).rejects.toBe(broken)
  await running.closed
  expect(seen).toEqual(['stopped'])
})
