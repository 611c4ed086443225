import { expect, onTestFinished, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { bearer } from '../../src/auth.ts'
import type { App } from '../../src/index.ts'
import { headed } from '../http/messages.ts'
import { begin } from '../http/wire.ts'
import { as, server } from './server.ts'

const ANSWER = 'x'.repeat(2 ** 25)

/** Begins to read a long answer at the end of a stream. */
async function read(expiresAt?: number): Promise<{ app: App; received(): Promise<number> }> {
  const method = bearer(() => ({ sub: 'ann', ...(expiresAt && { expiresAt }) }))
  const app = server(method).tool('long', {}, (_, { progress }) => {
    progress(1)
    return ANSWER
  }) as unknown as App
  const running = await app.listen({ http: { port: 0 } })
  onTestFinished(() => running.close())
  const { body, headers } = headed('tools/call', { name: 'long', _meta: { progressToken: 1 } })
  const port = Number(new URL(running.url as string).port)
  const response = await begin(port, { body, headers: { ...headers, ...as('ann') } })
  onTestFinished(() => void response.destroy())
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'text/event-stream'])
  let bytes = 0
  const received = async (): Promise<number> => {
    response.on('error', () => undefined).on('data', (chunk: Buffer) => void (bytes += chunk.length))
    await new Promise((resolve) => response.once('close', resolve))
    return bytes
  }
  return { app, received }
}

test('a long answer is sent to a caller who is not revoked', async () => {
  const { received } = await read()
  expect(await received()).toBeGreaterThan(ANSWER.length)
})

test('a long answer is sent no further to a caller who was revoked', async () => {
  const { app, received } = await read()
  void app.revoke({ sub: 'ann' })
  expect(await received()).toBeLessThan(ANSWER.length)
})

test('a long answer is sent no further to a caller whose token expired', async () => {
  const expiresAt = Date.now() / 1000 + 1.5
  const { app, received } = await read(expiresAt)
  await new Promise((resolve) => serviceOf(app).leases.hold({ sub: 'ann', scopes: [], expiresAt }, resolve))
  expect(await received()).toBeLessThan(ANSWER.length)
})
