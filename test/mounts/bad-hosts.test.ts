import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import { serveUnder, startUnder } from './runtimes.ts'

/** Sends a request as it is, and gives back the reply. */
async function raw(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.write(request)
  return text(socket)
}

const BODY = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
const REST = `content-type: application/json\r\nconnection: close\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`
const BAD = {
  'no Host': `POST /mcp HTTP/1.0\r\n${REST}`,
  'an invalid Host': `POST /mcp HTTP/1.1\r\nhost: a b\r\n${REST}`,
}

test.each(Object.entries(BAD))(
  'Bun: a request with %s gets 400, and nothing is printed',
  async (_, request) => {
    const port = await startUnder('bun')
    expect(await raw(port, request)).toMatch(/^HTTP\/1.[01] 400 /)
    const started = await serveUnder('bun', 'exported/with-endpoint.ts')
    onTestFinished(() => started.stop())
    const before = started.printed.join('')
    const reply = await raw(started.port, request)
    expect(reply).toMatch(/^HTTP\/1.[01] 400 /)
    expect(reply).toContain('not valid HTTP/1.1')
    expect(started.printed.join('')).toBe(before)
  },
)

test.each<readonly [string, (app: App) => App]>([
  ['alone', (app) => app],
  ['with an endpoint', (app) => app.use({ endpoints: { '/own': () => new Response('own') } })],
])('fetch: a request whose URL is only a path gets 400, %s', async (_, extend) => {
  const logged: string[] = []
  const app = extend(
    createServer({ name: 'x', version: '1', log: (_level, message) => void logged.push(message) }),
  )
  for (const host of [undefined, 'a b'])
    for (const method of ['POST', 'GET', 'OPTIONS']) {
      const headers = new Headers({ 'content-type': 'application/json', accept: 'application/json' })
      const request = new Request('http://localhost/mcp', { method, headers })
      Object.defineProperty(request, 'url', { value: '/mcp' })
      if (host !== undefined) Object.defineProperty(request, 'headers', { value: new Headers({ host }) })
      expect((await app.fetch(request)).status).toBe(400)
    }
  expect(logged).toEqual([])
})
