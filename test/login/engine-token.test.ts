import { expect, test } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { Deferred } from '../../src/base/deferred.ts'
import { token, type TokenQuestion } from '../../src/auth-client.ts'
import type { HeaderRecord } from '../../src/transport/http/client/headers.ts'
import { callTool, openAuth, startProtected, type Protected } from './engine-server.ts'

function start(): Promise<Protected> {
  return startProtected((resource) =>
    bearer((given) => (given.startsWith('good') ? { sub: given, scopes: ['notes:write'] } : undefined), {
      resource,
    }),
  )
}

test('the function is asked for each request', async () => {
  const server = await start()
  let count = 0
  const client = openAuth(
    token(() => `good-${++count}`),
    server.url,
  )
  expect(await callTool(client, server.url, 'who')).toBe('good-1 notes:write')
  expect(await callTool(client, server.url, 'who')).toBe('good-2 notes:write')
})

test('the function is asked once more after 401, and told which token was rejected', async () => {
  const server = await start()
  const questions: TokenQuestion[] = []
  const source = async (question: TokenQuestion): Promise<string> => {
    questions.push(question)
    return question.rejected === undefined ? 'old' : 'good'
  }
  expect(await callTool(openAuth(token(source), server.url), server.url, 'who')).toBe('good notes:write')
  expect(questions.map(({ rejected }) => rejected)).toEqual([undefined, 'old'])
  expect(questions[0]?.server.href).toBe(server.url.href)
  const bad = openAuth(
    token(({ rejected }) => `bad${rejected ?? ''}`),
    server.url,
  )
  await expect(callTool(bad, server.url, 'who')).rejects.toThrow('status 401')
  expect(server.replies.slice(-2).map(({ token: sent }) => sent)).toEqual(['bad', 'badbad'])
})

test('a token that was just rejected is not sent again', async () => {
  const server = await start()
  await expect(
    callTool(
      openAuth(
        token(() => 'old'),
        server.url,
      ),
      server.url,
      'who',
    ),
  ).rejects.toThrow('status 401')
  expect(server.replies).toHaveLength(1)
})

test.each([
  ['nothing', undefined],
  ['an empty text', ''],
  ['a text with a line break', 'a\r\nx-admin: 1'],
])('%s is not a token', async (_, given) => {
  const server = await start()
  const client = openAuth(
    token(() => given as string),
    server.url,
  )
  const error = await callTool(client, server.url, 'who').catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ kind: 'login_failed' })
  expect(String(error)).not.toContain('x-admin')
  expect(server.replies).toEqual([])
})

test('a token in place of the function is an error that says what to write', () => {
  expect(() => token('abc' as never)).toThrow('token(() => accessToken)')
})

test('a request to another origin has no token', async () => {
  const client = openAuth(
    token(() => 'good'),
    new URL('wss://mcp.example/mcp'),
  )
  const { signal } = new AbortController()
  const sent: unknown[] = []
  const send = async (headers: unknown): Promise<Response> => {
    sent.push(headers)
    return new Response()
  }
  await client.attempt({ verb: 'GET', url: new URL('https://evil.example/mcp'), signal }, send)
  await client.attempt({ verb: 'GET', url: new URL('https://mcp.example/mcp'), signal }, send)
  expect(sent).toEqual([{}, { authorization: 'Bearer good' }])
})

test('requests whose token was rejected at the same time ask the function once', async () => {
  const url = new URL('https://mcp.example/mcp')
  const asked: (string | undefined)[] = []
  const given = new Deferred<string>()
  const source = ({ rejected }: TokenQuestion): string | Promise<string> => {
    asked.push(rejected)
    return rejected === undefined ? 'old' : given.promise
  }
  const client = openAuth(token(source), url)
  const send = async ({ authorization }: HeaderRecord): Promise<Response> =>
    new Response(null, { status: authorization === 'Bearer good' ? 200 : 401 })
  const { signal } = new AbortController()
  const calls = Array.from({ length: 50 }, () => client.attempt({ verb: 'POST', url, signal }, send))
  await new Promise((resolve) => setImmediate(resolve))
  given.resolve('good')
  for (const { status } of await Promise.all(calls)) expect(status).toBe(200)
  expect(asked.filter((rejected) => rejected === 'old')).toHaveLength(1)
})

test('the question is withdrawn only when none of the requests waits for it', async () => {
  const server = await start()
  const asked = new Deferred<AbortSignal>()
  const client = openAuth(
    token(({ rejected, signal }) => {
      if (rejected === undefined) return 'old'
      asked.resolve(signal)
      return new Promise<string>(() => undefined)
    }),
    server.url,
  )
  const stops = [new AbortController(), new AbortController()]
  const calls = stops.map(({ signal }) => callTool(client, server.url, 'who', { signal }))
  const ended = Promise.allSettled(calls)
  const signal = await asked.promise
  await expect.poll(() => server.replies.length).toBe(2)
  stops[0]?.abort(new Error('tired'))
  await expect(calls[0]).rejects.toThrow('tired')
  expect(signal.aborted).toBe(false)
  stops[1]?.abort(new Error('tired as well'))
  await ended
  expect(signal.aborted).toBe(true)
})

test('if the function fails after 401, the reply is discarded', async () => {
  const url = new URL('https://mcp.example/mcp')
  const client = openAuth(
    token(({ rejected }) => {
      if (rejected === undefined) return 'old'
      throw new Error('logged out')
    }),
    url,
  )
  let isCancelled = false
  const body = new ReadableStream({ cancel: () => void (isCancelled = true) })
  const { signal } = new AbortController()
  const reply = client.attempt({ verb: 'POST', url, signal }, async () => new Response(body, { status: 401 }))
  await expect(reply).rejects.toThrow('logged out')
  expect(isCancelled).toBe(true)
})
