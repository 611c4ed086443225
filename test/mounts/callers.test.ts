import { createServer as createHttp, type IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import { BOTH, call, initialize } from '../http/messages.ts'
import { listen } from './tour.ts'

type Post = (body: string, headers?: Readonly<Record<string, string>>) => Promise<Response>
type Mount = (app: App, auth: unknown) => Promise<Post>

const MOUNTS: Readonly<Record<string, Mount>> = {
  'app.node()': async (app, auth) => {
    const serve = app.node()
    const url = await listen(
      createHttp((request: IncomingMessage & { auth?: unknown }, response) => {
        request.auth = auth
        serve(request, response)
      }),
    )
    return (body, headers) => fetch(url, { method: 'POST', body, headers: { ...BOTH, ...headers } })
  },
  'app.fetchWith()': async (app, auth) => {
    const serve = app.fetchWith({})
    return (body, headers) => {
      const request = new Request('http://localhost/mcp', {
        method: 'POST',
        body,
        headers: { ...BOTH, ...headers },
      })
      return serve(request, { auth: auth as never })
    }
  },
}

function server(logged: string[] = []): App {
  return createServer({
    name: 'callers',
    version: '1',
    log: (level, message) => void logged.push(`${level}: ${message}`),
  }).tool('who', {}, (_, { auth }) => JSON.stringify(auth ?? null))
}

/** What a tool sees as its caller, in a request too large to be read at once. */
async function whoFor(post: Post): Promise<unknown> {
  const opened = await post(initialize())
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  const reply = await post(call('who').padEnd(20_000), session)
  const { result } = (await reply.json()) as { result: { content: readonly { text: string }[] } }
  return JSON.parse(result.content[0]!.text)
}

describe.each(Object.entries(MOUNTS))('the caller that a framework gives %s', (_, mount) => {
  test.each([undefined, null, false])('%s is anonymous, also with a large body', async (auth) => {
    expect(await whoFor(await mount(server(), auth))).toBe(null)
  })

  test('an object with a sub is the caller', async () => {
    const auth = { sub: 'ann', scopes: ['read'] }
    expect(await whoFor(await mount(server(), auth))).toEqual(auth)
  })

  const token = 'secret-token'
  test.each([
    ['a function', () => ({ sub: 'ann' })],
    ['a string', 'ann'],
    ['a boolean', true],
    ['a number', 0],
    ['an object without a sub', { userId: null }],
    ['an object without a sub', { sub: '' }],
    ['an object without a sub', { sub: 7 }],
    ['an object without a sub', { token, clientId: 'app', scopes: [], expiresAt: 1, extra: {} }],
  ])('%s is rejected, and the log says once what to set: %o', async (given, auth) => {
    const logged: string[] = []
    const post = await mount(server(logged), auth)
    for (const body of [initialize(), initialize().padEnd(20_000)]) {
      const reply = await post(body)
      expect([reply.status, reply.headers.get('mcp-session-id')]).toEqual([500, null])
      const { error } = (await reply.json()) as { error: { code: number; message: string } }
      expect(error.code).toBe(-32603)
      expect(error.message).toContain(given)
      expect(error.message).not.toContain(token)
    }
    expect(logged.filter((line) => line.includes('the web framework gave'))).toEqual([
      expect.stringContaining('whose sub identifies the user'),
    ])
  })
})

test('app.node(): an error while a body is read is answered, and the server goes on', async () => {
  const logged: string[] = []
  const auth = Object.freeze({
    sub: 'ann',
    get iss(): string {
      throw new Error('no issuer')
    },
  })
  const post = await MOUNTS['app.node()']!(server(logged), auth)
  expect((await post(initialize().padEnd(20_000))).status).toBe(500)
  expect((await post(initialize().padEnd(20_000))).status).toBe(500)
  expect(logged.filter((line) => line.startsWith('error'))).toHaveLength(2)
})
