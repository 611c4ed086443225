import { createServer as createHttp, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createServer } from 'pierhead'
import { browser, memoryVault } from 'pierhead/auth/client'
import { devAuth } from 'pierhead/auth/dev'
import { createClient, type Client, type ConnectOptions } from 'pierhead/client'
import { Deferred } from '../../src/base/deferred.ts'

/** A server that asks only some requests for a login, so that a test chooses where the login begins. */
async function serve(isProtected: (request: IncomingMessage, body: string) => boolean): Promise<string> {
  const dev = await devAuth({ port: 0, resource: 'http://127.0.0.1:3000/mcp' })
  onTestFinished(() => dev.close())
  const app = createServer({ name: 'notes', version: '1.0.0', log: () => undefined })
  onTestFinished(() => app.close())
  app.tool('who', {}, () => 'ann')
  const handle = app.node({ sse: true })
  const http = createHttp((request, response) => {
    const chunks: Buffer[] = []
    if (request.url?.startsWith('/.well-known/') === true) {
      const metadata = { resource: url, authorization_servers: [dev.issuer] }
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata))
    }
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      if (isProtected(request, body))
        return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
      Object.assign(request, { body: body === '' ? undefined : JSON.parse(body) })
      handle(request, response)
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  })
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  return url
}

const isGet = ({ method }: IncomingMessage): boolean => method === 'GET'
const has =
  (text: string) =>
  (_: IncomingMessage, body: string): boolean =>
    body.includes(text)
const always = (): boolean => true
const SESSION = { revision: '2025-11-25' } as const
const answers = { elicit: () => ({ action: 'decline' as const }) }

const BEGINNINGS: readonly (readonly [
  string,
  (request: IncomingMessage, body: string) => boolean,
  ConnectOptions & { readonly ws?: boolean; readonly perCall?: boolean },
])[] = [
  ['the first request', always, {}],
  ['the handshake', has('"initialize"'), SESSION],
  ['the end of the handshake', has('notifications/initialized'), SESSION],
  ['the stream for notifications', isGet, SESSION],
  ['the stream for questions', isGet, { ...SESSION, answers }],
  ['a call', has('tools/call'), SESSION],
  ['a call with credentials of its own', has('tools/call'), { ...SESSION, perCall: true }],
  ['a call of the newest revision', has('tools/call'), { revision: '2026-07-28' }],
  ['the stream of HTTP+SSE', always, { revision: '2024-11-05' }],
  ['opening a WebSocket', always, { ws: true }],
]

test.each(BEGINNINGS)(
  'close() ends a login that %s began, and its port, without waiting for anybody',
  async (_, isProtected, { ws = false, perCall = false, ...options }) => {
    const url = await serve(isProtected)
    // Nothing but closing may end the wait.
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const shown = new Deferred<{ readonly page: URL; readonly signal: AbortSignal }>()
    const auth = browser({
      vault: memoryVault(),
      open: (page, { signal }) => {
        shown.resolve({ page, signal })
        return new Promise(() => undefined)
      },
    })
    const [own, shared] = perCall ? [{ auth }, {}] : [{}, { auth }]
    const client: Client = createClient(ws ? url.replace('http', 'ws') : url, { ...options, ...shared })
    const call = Promise.allSettled([client.call('who', {}, own)])
    const { page, signal } = await shown.promise
    const redirect = page.searchParams.get('redirect_uri') as string
    expect((await fetch(redirect)).status).toBe(400)
    await client.close()
    expect(signal.aborted).toBe(true)
    await expect(fetch(redirect)).rejects.toThrow('fetch failed')
    await call
  },
)
