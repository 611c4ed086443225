import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { oauth } from '../../src/auth.ts'
import { BOTH, headed, initialize } from '../http/messages.ts'
import { Raw, send, type Sent } from '../http/wire.ts'
import { createProver } from './proofs.ts'
import { as, listen, RESOURCE, server, type Listening } from './server.ts'
import { startSmallIssuer, type SmallIssuer } from './small-issuer.ts'

let issuer: SmallIssuer

beforeAll(async () => {
  issuer = await startSmallIssuer(RESOURCE)
})
afterAll(() => issuer.close())

const metadataOf = (path: string): string =>
  `resource_metadata="https://mcp.example/.well-known/oauth-protected-resource${path}"`

/** A token for one path of the server. */
const tokenFor = (path: string): Promise<string> => issuer.sign({ aud: `https://mcp.example${path}` })

const callOf = (tool: string, more: object = {}): string =>
  JSON.stringify({ request_id: crypto.randomUUID(), tool_id: tool, arguments: {}, ...more })

function guarded(): Promise<Listening> {
  const app = server(oauth({ issuer: issuer.url, resource: RESOURCE }))
  app.tool('job', { task: 'optional' }, () => 'done')
  return listen(undefined, {}, app)
}

test('a token for /gist starts a job and reads it at /jobs, and one for another path does not', async () => {
  const { port } = await guarded()
  const gist = as(await tokenFor('/gist'))
  const started = await send(port, {
    path: '/gist',
    body: callOf('job', { mode: 'async' }),
    headers: { ...BOTH, ...gist },
  })
  const path = `/jobs/${String(started.json['job_id'])}`
  const read = async (headers: Sent['headers']): Promise<readonly [number, string | undefined]> => {
    const reply = await send(port, { method: 'GET', path, headers: headers ?? {} })
    return [reply.status, /resource_metadata="[^"]*"/.exec(reply.headers['www-authenticate'] ?? '')?.[0]]
  }
  expect(await read(gist)).toEqual([200, undefined])
  expect(await read(as(await tokenFor('/mcp')))).toEqual([200, undefined])
  expect(await read(as(await tokenFor('/sse')))).toEqual([401, metadataOf('/gist')])
  expect(await read({})).toEqual([401, metadataOf('/gist')])
})

test('a caller at /gist that lacks the scopes of a tool gets 403 with the metadata of /gist', async () => {
  const { port } = await guarded()
  const headers = { ...BOTH, ...as(await tokenFor('/gist')) }
  const reply = await send(port, { path: '/gist', body: callOf('write'), headers })
  expect([reply.status, reply.headers['www-authenticate']]).toEqual([
    403,
    expect.stringContaining(metadataOf('/gist')),
  ])
})

test.each([
  ['/mcp', '/mcp', headed('tools/call', { name: 'who' })],
  ['/messages?sessionId=x', '/sse', { body: initialize(), headers: BOTH }],
  ['/gist', '/gist', { body: callOf('who'), headers: BOTH }],
])(
  'a caller that is revoked while a body arrives at %s is sent to the metadata of %s',
  async (path, at, sent) => {
    const { app, port } = await guarded()
    const { body } = sent
    const token = as(await tokenFor(at))
    // From now on, the server knows the token.
    await send(port, { path, body, headers: { ...sent.headers, ...token } })
    const socket = new Raw(port)
    onTestFinished(() => socket.destroy())
    const head = { ...sent.headers, host: 'localhost', 'content-length': String(body.length) }
    const lines = Object.entries({ ...head, ...token }).map((pair) => pair.join(': '))
    socket.write([`POST ${path} HTTP/1.1`, ...lines, 'expect: 100-continue', '', ''].join('\r\n'))
    await socket.until(/^HTTP\/1.1 100 /)
    socket.write(body.slice(0, 5))
    void app.revoke({ sub: 'ada' })
    socket.write(body.slice(5))
    await socket.until(/HTTP\/1.1 401 [^]*\r\n\r\n/)
    expect(socket.text).toContain(metadataOf(at))
  },
)

describe('behind a proxy that serves it below a path', () => {
  const SITE = 'https://mcp.example/api'
  const requests: readonly (readonly [string, string, string | undefined, number])[] = [
    ['POST', '/mcp', initialize(), 200],
    ['POST', '/gist', callOf('who'), 200],
    ['GET', '/jobs/x', undefined, 404],
    ['POST', '/messages', initialize(), 404],
  ]

  test.each(requests)('%s %s accepts proofs for its public URL only', async (method, path, body, status) => {
    const prover = await createProver()
    const { port } = await listen(oauth({ issuer: issuer.url, resource: `${SITE}/mcp` }))
    const token = await issuer.sign({ aud: `${SITE}/mcp`, cnf: { jkt: prover.jkt } })
    const ask = async (url: string): Promise<number> => {
      const dpop = await prover.prove({ token, method, url })
      const headers = { ...BOTH, authorization: `DPoP ${token}`, dpop }
      return (await send(port, { method, path, headers, ...(body !== undefined && { body }) })).status
    }
    expect(await ask(`${SITE}${path}`)).toBe(status)
    expect(await ask(`https://mcp.example${path}`)).toBe(401)
  })
})
