import { request as askHttps } from 'node:https'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, McpError } from '../../src/index.ts'
import { createAuthority } from '../harness/certificates.ts'
import { headed } from '../http/messages.ts'

const authority = createAuthority('Harbour CA')
const own = authority.issue('server', ['127.0.0.1'])
const ann = authority.issue('ann')
const tls = { key: own.key, cert: own.cert, ca: authority.cert }

test('app.revoke rejects the owner of a certificate on HTTPS', async () => {
  let sub = ''
  const app = createServer({ name: 'x', version: '1', log: () => undefined }).tool(
    'who',
    {},
    (_, { auth }) => {
      sub = auth?.sub as string
      return sub
    },
  )
  const { url } = await app.listen({ http: { port: 0, tls }, onUncaught: 'exit' })
  onTestFinished(() => app.close())
  const ask = (client: typeof ann): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const { body, headers } = headed('tools/call', { name: 'who' })
      askHttps(
        url as string,
        { method: 'POST', headers, ca: authority.cert, ...client, agent: false },
        (reply) => resolve(reply.resume().statusCode),
      )
        .once('error', reject)
        .end(body)
    })
  const bob = authority.issue('bob')
  expect([await ask(bob), await ask(ann)]).toEqual([200, 200])
  void app.revoke({ sub })
  expect([await ask(bob), await ask(ann)]).toEqual([200, 403])
})

test('app.revoke closes the TCP connections of the owner of a certificate, and rejects new ones', async () => {
  let sub = ''
  const app = createServer({ name: 'x', version: '1', log: () => undefined }).tool(
    'who',
    {},
    (_, { auth }) => {
      sub = auth?.sub as string
      return sub
    },
  )
  const { addresses } = await app.listen({ tcp: { port: 0, tls }, onUncaught: 'exit' })
  onTestFinished(() => app.close())
  const open = (): ReturnType<typeof connect> =>
    connect(addresses.tcp as string, {
      tls: { ca: authority.cert, key: ann.key, cert: ann.cert },
    })
  const client = await open()
  onTestFinished(() => client.close())
  await client.call('who')
  void app.revoke({ sub })
  await expect(client.call('who')).rejects.toBeInstanceOf(McpError)
  await expect(open().then((other) => other.call('who'))).rejects.toBeInstanceOf(McpError)
})
