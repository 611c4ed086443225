import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { envelope, post } from './server.ts'

test('limits.heap an envelope whose text a site has read already is rejected if the heap has no room for its values', async () => {
  const app = createServer({
    name: 'room',
    version: '1',
    log: () => undefined,
    limits: { heap: 0.001 },
  }).tool('echo', { input: { type: 'object' } }, () => 'echoed')
  const serve = app.node({ gist: true })
  const site = createHttp((request, response) => {
    void text(request).then((body) => serve(request, response, body))
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void site.close())
  const { port } = site.address() as AddressInfo
  const large = envelope('echo', { text: 'a'.repeat(100_000) })
  expect(await post(port, large)).toMatchObject({
    status: 503,
    json: { status: 'error', error: { code: 1005 } },
  })
})
