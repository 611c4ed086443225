import { expect, test } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import * as gist from '../gist/server.ts'
import { BOTH, call, headed, initialize, message } from '../http/messages.ts'
import { open, start } from '../http/server.ts'
import { post, send } from '../http/wire.ts'
import * as sse from '../sse/server.ts'
import { scene } from '../ws/scene.ts'

/** Counts the calls of each session, and says which session that is. */
function counting(log?: (facts: JsonObject | undefined) => void): App {
  return createServer({ name: 'counts', version: '1', log: (_level, _text, facts) => log?.(facts) })
    .tool('count', {}, async (_input, { session }) => {
      if (session === undefined) return 'no session'
      const count = ((await session.get<number>('count')) ?? 0) + 1
      await session.set('count', count)
      return `${session.id} ${count}`
    })
    .tool('fail', {}, async (_input, { session }) => {
      await session?.get('count')
      throw new Error('no')
    })
}

function textOf(message: unknown): string {
  return (message as { result: { content: [{ text: string }] } }).result.content[0].text
}

test('over HTTP the id is the one in the header, and the values end with the session', async () => {
  const { port } = await start(counting())
  const [one, other] = [await open(port), await open(port)]
  const count = async (session: typeof one): Promise<string> =>
    textOf((await session.post(call('count'))).json)
  expect([await count(one), await count(one)]).toEqual([`${one.id} 1`, `${one.id} 2`])
  expect(await count(other)).toBe(`${other.id} 1`)
  await one.delete()
  expect((await one.post(call('count'))).status).toBe(404)
  expect(await count(await open(port))).toMatch(/ 1$/)
})

test('over HTTP requests of 2026-07-28 have no session, nor has anyone without sessions', async () => {
  const { port } = await start(counting())
  const { body, headers } = headed('tools/call', { name: 'count', arguments: {} })
  expect(textOf((await send(port, { body, headers })).json)).toBe('no session')
  const stateless = await start(counting(), { sessions: false })
  await post(stateless.port, initialize(), BOTH)
  const versioned = { ...BOTH, 'mcp-protocol-version': '2025-11-25' }
  expect(textOf((await post(stateless.port, call('count'), versioned)).json)).toBe('no session')
})

test('over HTTP+SSE the id is the one in the address', async () => {
  const { port } = await sse.start(counting())
  const client = await (await sse.open(port)).shake()
  const id = new URLSearchParams(client.path.split('?')[1]).get('sessionId')
  await client.post(call('count', {}, 2))
  await client.post(call('count', {}, 3))
  expect([textOf(await client.answer(2)), textOf(await client.answer(3))]).toEqual([`${id} 1`, `${id} 2`])
})

test('over a WebSocket the values survive a broken connection', async () => {
  const { way, join, sessions } = await scene(counting())
  const client = await join()
  const first = String(await client.call('count'))
  way.cut()
  await expect.poll(() => way.heads.length).toBe(2)
  const [id] = first.split(' ')
  expect([first, await client.call('count')]).toEqual([`${id} 1`, `${id} 2`])
  expect(way.heads[1]).toMatch(new RegExp(`^mcp-session-id: ${id}\\r?$`, 'im'))
  expect(sessions.size).toBe(1)
})

test('in envelopes only a call that names a session has one', async () => {
  const { port } = await gist.start(counting())
  const session = String((await gist.shake(port))['session'])
  const count = async (more: JsonObject): Promise<string> =>
    textOf((await gist.post(port, gist.envelope('count', {}, more))).json)
  const context = { client_name: 'Desk' }
  expect([await count({}), await count({ context })]).toEqual(['no session', 'no session'])
  expect([await count({ session }), await count({ session, context })]).toEqual([
    `${session} 1`,
    `${session} 2`,
  ])
})

test('on a connection with a session, requests that bring their own revision do not see it', async () => {
  const replies: string[] = []
  const end = counting().connect({ receive: (text) => void replies.push(text) })
  for (const text of [initialize(), message('notifications/initialized'), call('count', {}, 2)])
    end.send(text)
  end.send(headed('tools/call', { name: 'count', arguments: {} }, 3).body)
  await expect.poll(() => replies.length).toBe(3)
  const answers = replies.map((text) => JSON.parse(text) as JsonObject)
  expect(answers.slice(1).map(textOf).toSorted()).toEqual([expect.stringMatching(/ 1$/), 'no session'])
  end.close()
})

test('the id of a session is not in the log', async () => {
  const logged: unknown[] = []
  const app = counting((facts) => void logged.push(facts))
  const { port } = await start(app)
  const session = await open(port)
  await session.post(call('fail'))
  const envelopes = await gist.start(app)
  const descriptor = await gist.shake(envelopes.port)
  await gist.post(envelopes.port, gist.envelope('fail', {}, { session: descriptor['session'] }))
  expect(logged).toHaveLength(2)
  for (const id of [session.id, String(descriptor['session'])])
    expect(JSON.stringify(logged)).not.toContain(id)
})
