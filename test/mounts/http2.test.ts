import { once } from 'node:events'
import { connect, createServer as createHttp2, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createServer, type MountOptions, type NodeListener } from '../../src/index.ts'
import { BOTH, headed, type Headed } from '../http/messages.ts'

type Ask = (sent: Headed, path?: string) => Promise<[number | undefined, string]>

/** A server of Node's HTTP/2, and what asks it. */
async function mounted(options: MountOptions): Promise<Ask> {
  const app = createServer({ name: 'x', version: '1', log: () => undefined })
    .tool('echo', {}, () => 'echoed')
    .use({ endpoints: { '/own': async (request) => new Response(new URL(request.url).host) } })
  const serve = app.node(options)
  const server = createHttp2((...both) => serve(...(both as unknown as Parameters<NodeListener>)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(async () => {
    client.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return async ({ body, headers }, path = '/mcp') => {
    const stream = client.request({ ':method': 'POST', ':path': path, ...headers })
    stream.end(body)
    const [reply] = (await once(stream, 'response')) as [IncomingHttpHeaders]
    return [Number(reply[':status']), await text(stream)]
  }
}

const echo = headed('tools/call', { name: 'echo' })
const changed = (headers: Readonly<Record<string, string>>): Headed => ({
  ...echo,
  headers: { ...echo.headers, ...headers },
})

test('a mount in HTTP/2 checks the host, which has no header of its own', async () => {
  const ask = await mounted({ hosts: ['127.0.0.1'] })
  expect(await ask(echo)).toEqual([200, expect.stringContaining('echoed')])
  for (const headers of [
    { ':authority': 'evil.example' },
    { host: 'evil.example' },
    { host: 'evil.example', ':authority': '127.0.0.1' },
  ])
    expect((await ask(changed(headers)))[0]).toBe(403)
})

test('a mount in HTTP/2 without hosts serves this machine alone to web pages', async () => {
  const ask = await mounted({})
  expect((await ask(echo))[0]).toBe(200)
  expect((await ask(changed({ origin: 'https://evil.example' })))[0]).toBe(403)
})

test('an endpoint of a plug-in works in HTTP/2', async () => {
  const ask = await mounted({})
  const [status, host] = await ask({ body: 'x', headers: BOTH }, '/mcp/own')
  expect([status, host]).toEqual([200, expect.stringMatching(/^127\.0\.0\.1:\d+$/)])
})
