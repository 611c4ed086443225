import { expect, test } from 'vitest'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { BOTH, call, initialize, message } from '../http/messages.ts'
import { open, start, tools } from '../http/server.ts'
import { post, send } from '../http/wire.ts'

const HANDSHAKES = REVISIONS.filter((revision) => revision !== '2026-07-28')
const VERBS = ['POST', 'GET', 'DELETE'] as const

/** Sends each verb with some headers; gives back the statuses. */
async function statuses(
  port: number,
  headers: Readonly<Record<string, string | string[]>>,
): Promise<number[]> {
  const replies = VERBS.map(async (method) => {
    const body = method === 'POST' ? { body: message('ping', {}, 1) } : {}
    return (await send(port, { method, headers: { ...BOTH, ...headers }, ...body })).status
  })
  return Promise.all(replies)
}

test.each(HANDSHAKES)(
  'S.missing S.unknown S.proto S.twice S.deleted at %s a request belongs to a session that is there, or is refused on every verb [R084] [R085]',
  async (revision) => {
    const { port, endpoint } = await start()
    const version = { 'mcp-protocol-version': revision }
    expect(await statuses(port, version)).toEqual([400, 400, 400])
    for (const id of ['nothing', '__proto__', 'constructor', 'a'.repeat(4000)]) {
      expect([id, ...(await statuses(port, { ...version, 'mcp-session-id': id }))]).toEqual([
        id,
        404,
        404,
        404,
      ])
    }
    const session = await open(port, revision)
    const doubled = await statuses(port, { ...version, 'mcp-session-id': [session.id, session.id] })
    expect(doubled).toEqual([404, 404, 404])
    expect((await session.post(message('ping', {}, 1))).status).toBe(200)
    expect((await session.delete()).status).toBe(200)
    expect(await statuses(port, { ...version, 'mcp-session-id': session.id })).toEqual([404, 404, 404])
    expect(endpoint.sessions.size).toBe(0)
  },
)

test.each(HANDSHAKES)(
  'S.version-unknown S.version-offer at %s a version that is none is refused in the header, and answered with an offer in initialize [R033] [R089]',
  async (revision) => {
    const { port } = await start()
    const session = await open(port, revision)
    for (const version of ['1999-01-01', '2025-11-26', 'latest', `${revision}, ${revision}`]) {
      const headers = { 'mcp-session-id': session.id, 'mcp-protocol-version': version }
      expect([version, ...(await statuses(port, headers))]).toEqual([version, 400, 400, 400])
    }
    expect((await session.post(message('ping', {}, 1))).status).toBe(200)
    const offered = await post(port, initialize('1999-01-01'), BOTH)
    expect(offered.json).toMatchObject({ result: { protocolVersion: '2025-11-25' } })
  },
)

test.each(HANDSHAKES)(
  'S.get-steal S.get-accept S.replay-foreign S.replay-odd at %s nobody takes a stream, or what was on it, from another [R079] [R092]',
  async (revision) => {
    const { port } = await start(tools())
    const [mine, other] = [await open(port, revision), await open(port, revision)]
    const first = await mine.get()
    expect([first.status, (await mine.get()).status]).toEqual([200, 409])
    const unwilling = { ...mine.headers, accept: 'application/json' }
    expect((await send(port, { method: 'GET', headers: unwilling })).status).toBe(406)
    const called = await mine.post(call('steps', { count: 3 }, 5, { progressToken: 1 }))
    const place = called.events[0]!.id!
    const replayed = await other.get(place)
    expect(replayed.status).toBe(400)
    for (const odd of ['', '0', '__proto__', '-1', 'r1', 'r1_', 'r1_1e9', 'x'.repeat(5000), '../s_0']) {
      const reply = await send(port, {
        method: 'GET',
        headers: { ...other.headers, accept: 'text/event-stream', 'last-event-id': odd },
      })
      expect([odd, reply.status, reply.text.includes('steps') || reply.text.includes('progress')]).toEqual([
        odd,
        400,
        false,
      ])
    }
    first.drop()
  },
)
