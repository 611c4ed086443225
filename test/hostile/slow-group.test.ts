import { createServer as createTls } from 'node:tls'
import { expect, test } from 'vitest'
import { connect, connectAll } from '../../src/client.ts'
import { testIdentity } from '../harness/sockets.ts'
import { after, failure, listen, methodOf, serve, web, behave } from './peer.ts'

test('a server that answers each step of connecting just in time fails after the timeout of the group', async () => {
  const slow = await web((request, response) => {
    const timer = setTimeout(() => {
      const method = methodOf(request)
      if (method === 'server/discover') return response.writeHead(400).end()
      if (method === 'initialize') return response.writeHead(404).end()
      return response.writeHead(405).end()
    }, 2000)
    after(() => clearTimeout(timer))
  })
  const good = await serve('memory', (asked, wire) => behave('2026-07-28', asked, wire))
  await using group = await connectAll({ good, slow: slow.url }, { timeout: '3s' })
  expect([...group.clients.keys()]).toEqual(['good'])
  expect(group.failures.get('slow')).toMatchObject({ kind: 'timeout' })
  expect(slow.requests.map(methodOf)).not.toContain(undefined)
})

const SWITCHING = ['connection: upgrade\r\nupgrade: x\r\n', '']

test.each(SWITCHING)(
  'a reply with status 101 over TLS is an error at once, with the headers %j',
  async (headers) => {
    const { key, cert } = testIdentity()
    const server = createTls({ key, cert }, (socket) => {
      socket.once('data', () => socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers}\r\n`))
    })
    const port = await listen(server)
    const opening = connect(`https://localhost:${port}/mcp`, { tls: { ca: cert }, timeout: '20s' })
    expect(await failure(opening)).not.toMatchObject({ kind: 'timeout' })
  },
)
