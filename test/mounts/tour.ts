import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { BOTH, call, headed, initialize, message } from '../http/messages.ts'
import { eventsOf } from '../http/wire.ts'

export type Ask = (request: Request) => Response | Promise<Response>

/** The statuses at the end of a tour: unreadable, from a foreign page, ended, too late. */
export const ENDS: readonly number[] = [400, 403, 200, 404]

/** Walks through everything that a mounted server must do: the handshake, a call, progress, streams, both kinds of revision. */
export async function tour(ask: Ask, url: string): Promise<readonly number[]> {
  const post = (body: string, headers: Record<string, string>): Promise<Response> =>
    Promise.resolve(ask(new Request(url, { method: 'POST', body, headers })))

  const opened = await post(initialize(), { ...BOTH })
  expect(await opened.json()).toMatchObject({ result: { protocolVersion: '2025-11-25' } })
  const session = { ...BOTH, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  expect((await post(message('notifications/initialized'), session)).status).toBe(202)

  const called = await post(call('echo', { text: 'grüße' }), session)
  expect(await called.json()).toMatchObject({ id: 2, result: { content: [{ text: 'grüße' }] } })

  const stepped = await post(call('steps', { count: 3 }, 3, { progressToken: 'p' }), session)
  expect(stepped.headers.get('content-type')).toBe('text/event-stream')
  const messages = eventsOf(new Uint8Array(await stepped.arrayBuffer())).flatMap(({ data }) =>
    data === '' ? [] : [JSON.parse(data)],
  )
  expect(messages.map(({ method, id }) => method ?? id)).toEqual([
    ...Array(3).fill('notifications/progress'),
    3,
  ])

  const stream = await ask(new Request(url, { headers: { ...session, accept: 'text/event-stream' } }))
  expect(stream.status).toBe(200)
  await stream.body?.cancel()

  const { body, headers } = headed('tools/call', {
    name: 'steps',
    arguments: { count: 2 },
    _meta: { progressToken: 1 },
  })
  const latest = eventsOf(new Uint8Array(await (await post(body, { ...headers })).arrayBuffer()))
  expect(latest.map(({ data }) => JSON.parse(data).method ?? 'answer')).toEqual([
    'notifications/progress',
    'notifications/progress',
    'answer',
  ])

  const unreadable = await post('{', session)
  const foreign = await post(initialize(), { ...BOTH, origin: 'https://evil.example' })
  const ended = await ask(
    new Request(url, { method: 'DELETE', headers: { 'mcp-session-id': session['mcp-session-id'] } }),
  )
  const late = await post(message('ping', {}, 9), session)
  return [unreadable, foreign, ended, late].map(({ status }) => status)
}

/** Opens a server on a free port of loopback for the length of the test. */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}
