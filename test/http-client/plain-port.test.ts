import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'

test('https at a port without TLS is an error that says so, and which URL to use', async () => {
  const app = createServer({ name: 'plain', version: '1' })
  const running = await app.listen({ http: { port: 0 } })
  onTestFinished(() => running.close())
  const url = running.url as string
  await expect(connect(url.replace('http:', 'https:'))).rejects.toMatchObject({
    kind: 'connect_failed',
    message: expect.stringContaining(
      'this port does not use TLS, so it probably serves plain HTTP (ERR_SSL_',
    ),
    hint: `Connect to ${url} instead, or correct the port.`,
  })
})
