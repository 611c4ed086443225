import { once } from 'node:events'
import { Agent, request, type RequestOptions } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { serviceOf } from '../../src/app/app.ts'
import { connect } from '../../src/client.ts'
import type { App, ListenOptions } from '../../src/index.ts'
import type { Identity } from '../harness/certificates.ts'
import { BOTH, headed, initialize } from '../http/messages.ts'
import { authority, pair, server as own } from './secure.ts'
import { as, people, server } from './server.ts'

const TLS = { ...pair(own), ca: authority.cert }

/** A real certificate for the next two seconds or so. */
function shortLived(): Identity & { readonly expiresAt: number } {
  const expiresAt = Math.ceil(Date.now() / 1000 + 1.5) * 1000
  return { ...authority.issue('ann', [], new Date(expiresAt)), expiresAt }
}

async function listen(
  options: ListenOptions,
  app: App = server(),
): Promise<Readonly<Record<string, string>>> {
  const { addresses } = await app.listen({ ...options, onUncaught: 'exit' })
  onTestFinished(() => app.close())
  return addresses as Readonly<Record<string, string>>
}

function post(
  url: string,
  own: Identity,
  {
    body,
    headers = {},
    method = 'POST',
  }: Pick<RequestOptions, 'method'> & { body?: string; headers?: object },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { ca: authority.cert, ...pair(own), agent: false } as const
    const sent = request(url, { method, headers: { ...headers }, ...options }, resolve)
    onTestFinished(() => void sent.destroy())
    sent.once('error', reject).end(body)
  })
}

/** When a stream ends, in milliseconds since 1970. */
async function endOf(reply: IncomingMessage): Promise<number> {
  expect(reply.statusCode).toBe(200)
  await once(reply.resume(), 'end')
  return Date.now()
}

const LISTEN = headed('subscriptions/listen', { notifications: { toolsListChanged: true } })

async function openListen(url: string, own: Identity, headers: object): Promise<number> {
  return endOf(await post(url, own, { body: LISTEN.body, headers: { ...LISTEN.headers, ...headers } }))
}

/** Opens streams over HTTPS, with the headers of a caller. Each resolves when the server ends it. */
const STREAMS: Readonly<Record<string, (url: string, own: Identity, headers: object) => Promise<number>>> = {
  'subscriptions/listen': openListen,
  'the stream of a session': async (url, own, headers) => {
    const all = { ...BOTH, ...headers }
    const opened = await post(url, own, { body: initialize(), headers: all })
    const session = { ...all, 'mcp-session-id': opened.resume().headers['mcp-session-id'] as string }
    return endOf(await post(url, own, { method: 'GET', headers: session }))
  },
  'the older SSE transport': async (url, own, headers) =>
    endOf(await post(new URL('/sse', url).href, own, { method: 'GET', headers: { ...BOTH, ...headers } })),
}

async function endOfSocket(url: string, own: Identity, headers: Record<string, string>): Promise<number> {
  const socket = new WebSocket(url, { ca: authority.cert, ...pair(own), headers })
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  const [code] = (await once(socket, 'close')) as [number]
  expect(code).toBe(4401)
  return Date.now()
}

test.each([
  ['', undefined, {}],
  [', although the token of the caller is still good', people(), as('ann')],
])(
  'when a client certificate expires, streams over HTTPS and WebSocket connections end%s',
  async (_, auth, headers) => {
    const http = { port: 0, tls: TLS, sse: true, ...(auth && { auth }) }
    const { http: url = '', ws = '' } = await listen({ http, ws: true })
    const certificate = shortLived()
    const ends = [
      ...Object.values(STREAMS).map((open) => open(url, certificate, headers)),
      endOfSocket(ws, certificate, headers),
    ]
    for (const endedAt of await Promise.all(ends)) {
      expect(endedAt - certificate.expiresAt).toBeGreaterThanOrEqual(0)
      expect(endedAt - certificate.expiresAt).toBeLessThan(2000)
    }
  },
)

test('when a client certificate expires, a TCP connection ends', async () => {
  const { tcp = '' } = await listen({ tcp: { port: 0, tls: TLS } })
  const certificate = shortLived()
  const tls = { ...pair(certificate), ca: authority.cert }
  const client = await connect(tcp, { tls, recovery: false })
  onTestFinished(() => client.close())
  await client.call('who')
  await expect.poll(() => client.state, { timeout: 5000 }).not.toBe('ready')
  expect(Date.now()).toBeGreaterThanOrEqual(certificate.expiresAt)
})

test('a request on a connection whose certificate has expired meanwhile is rejected', async () => {
  const { http: url = '' } = await listen({ http: { port: 0, tls: TLS } })
  const certificate = shortLived()
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: authority.cert, ...pair(certificate) })
  onTestFinished(() => agent.destroy())
  const ports: unknown[] = []
  const ask = async (): Promise<number | undefined> => {
    const { body, headers } = headed('tools/call', { name: 'who' })
    const sent = request(url, { method: 'POST', headers, agent }).end(body)
    const [reply] = (await once(sent, 'response')) as [IncomingMessage]
    ports.push(reply.socket.localPort)
    await once(reply.resume(), 'end')
    return reply.statusCode
  }
  expect(await ask()).toBe(200)
  await new Promise((resolve) => setTimeout(resolve, certificate.expiresAt - Date.now() + 50))
  expect(await ask()).toBe(403)
  expect(ports[1]).toBe(ports[0])
})

test('app.revoke for the owner of a certificate ends what a token opened on its connection', async () => {
  const app = server(people())
  const { http: url = '', ws = '' } = await listen({ http: { port: 0, tls: TLS }, ws: true }, app)
  const ann = authority.issue('ann')
  const ended = [openListen(url, ann, as('ann')), endOfSocket(ws, ann, as('ann'))]
  // Each is held for the token and for the certificate.
  await expect.poll(() => serviceOf(app).leases.size).toBe(4)
  void app.revoke({ sub: 'O=Harbour\nCN=ann' })
  await Promise.all(ended)
})
