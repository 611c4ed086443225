import { describe, expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import type { Auth } from '../../src/rpc/call.ts'
import type { App } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import type { Opening } from '../../src/transport/ws/session.ts'
import { WsSessions } from '../../src/transport/ws/sessions.ts'
import { headed } from '../http/messages.ts'
import { frame, handshake, OPCODE, Raw } from './raw.ts'
import { scene, server } from './scene.ts'
import { open } from './server.ts'

const ANEW = { 'last-event-id': '0' }
const idOf = ({ head }: Raw): string | undefined => /^mcp-session-id: (.*)$/im.exec(head)?.[1]
const countOf = ({ head }: Raw): string | undefined => /^last-event-id: (.*)$/im.exec(head)?.[1]
const back = (raw: Raw, count: number | string): Record<string, string> => ({
  'mcp-session-id': idOf(raw) as string,
  'last-event-id': String(count),
})

function pinged(limits: Partial<Limits> = {}): App {
  return server(limits).tool('long', {}, () => 'x'.repeat(1000))
}

const ping = (id: number): Buffer => frame(JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' }))
const pong = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":{}}`

/** Sends pings and waits until they are answered. */
async function say(raw: Raw, ...ids: readonly number[]): Promise<void> {
  const before = raw.texts.length
  raw.write(...ids.map(ping))
  await raw.until(() => raw.texts.length === before + ids.length)
}

describe('the opening', () => {
  test('gives a session only to clients that count messages, each with an unguessable id', async () => {
    const { port, sessions } = await scene(pinged())
    const plain = await open(port)
    expect([idOf(plain), countOf(plain), sessions.size]).toEqual([undefined, undefined, 0])
    const ids = new Set<string | undefined>()
    for (let nth = 0; nth < 20; nth++) ids.add(idOf(await open(port, ANEW)))
    expect([ids.size, sessions.size]).toEqual([20, 20])
    for (const id of ids) expect(id).toMatch(/^[\w-]{24}$/)
  })

  test.each(['', '-1', '+1', '1.5', '1e3', '0x1', ' ', 'one', '0, 0', '1'.repeat(16), '1_0', '١'])(
    'takes %j for no count at all',
    async (count) => {
      const { port, sessions } = await scene(pinged())
      const raw = await open(port, ANEW)
      await say(raw, 1)
      const other = await open(port, back(raw, Buffer.from(count).toString('latin1')))
      expect([idOf(other), sessions.size]).toEqual([undefined, 1])
      await say(raw, 2)
    },
  )

  test('authenticates before it looks up a session', async () => {
    const { port } = await scene(pinged())
    const raw = await open(port, ANEW)
    await say(raw, 1)
    for (const foreign of [{ host: 'evil.example' }, { origin: 'https://evil.example' }]) {
      const other = new Raw(port)
      expect(await other.ask(handshake(port, { ...back(raw, 1), ...foreign }))).toBe(403)
    }
    const wrong = new Raw(port)
    expect(await wrong.ask(handshake(port, { ...back(raw, 1), 'sec-websocket-key': 'short' }))).toBe(400)
    await say(raw, 2)
  })
})

describe('a session', () => {
  test('that is unknown is answered with a new one', async () => {
    const { port, sessions } = await scene(pinged())
    const raw = await open(port, { 'mcp-session-id': 'x'.repeat(24), 'last-event-id': '7' })
    expect([idOf(raw), countOf(raw)]).toEqual([expect.stringMatching(/^[\w-]{24}$/), '0'])
    expect(idOf(raw)).not.toBe('x'.repeat(24))
    await say(raw, 1)
    expect(sessions.size).toBe(1)
  })

  test('goes on where the client says it was: what it missed comes first, and once', async () => {
    const { port } = await scene(pinged())
    const raw = await open(port, ANEW)
    await say(raw, 1, 2, 3)
    raw.socket.destroy()
    const next = await open(port, back(raw, 1))
    expect([idOf(next), countOf(next)]).toEqual([idOf(raw), '3'])
    await say(next, 4)
    expect(next.texts.slice(0, 3)).toEqual([2, 3, 4].map(pong))
    next.socket.destroy()
    const last = await open(port, back(raw, 4))
    expect(countOf(last)).toBe('4')
    await say(last, 5)
    expect(last.texts).toEqual([pong(5)])
  })

  test('is not given for a count beyond what was sent, and goes on for its owner', async () => {
    const { port, sessions } = await scene(pinged())
    const raw = await open(port, ANEW)
    await say(raw, 1)
    const stranger = await open(port, back(raw, 2))
    expect(idOf(stranger)).not.toBe(idOf(raw))
    await say(raw, 2)
    expect(sessions.size).toBe(2)
  })

  test('ends when the client needs messages that were discarded', async () => {
    const app = pinged({ streamEvents: 4 })
    const { port, sessions } = await scene(app)
    const raw = await open(port, ANEW)
    await say(raw, ...Array.from({ length: 10 }, (_, id) => id))
    expect(app.counts.get('event_forgotten')).toBeGreaterThan(0)
    const next = await open(port, back(raw, 3))
    expect(idOf(next)).not.toBe(idOf(raw))
    expect(await raw.closeCode()).toBe(4001)
    await expect.poll(() => sessions.size).toBe(1)
  })

  test('has one connection: a later one takes over, and the earlier one is notified', async () => {
    const { port, sessions } = await scene(pinged())
    const raw = await open(port, ANEW)
    await say(raw, 1)
    const next = await open(port, back(raw, 1))
    expect(await raw.closeCode()).toBe(4001)
    raw.write(ping(2))
    await say(next, 3)
    expect(next.texts).toEqual([pong(3)])
    const last = await open(port, back(raw, 2))
    expect(countOf(last)).toBe('2')
    expect(sessions.size).toBe(1)
  })

  test('is over after a last word of either side, whatever was wrong', async () => {
    const { port, sessions } = await scene(pinged({ wsBytes: 10_000 }))
    const endings: readonly Buffer[] = [
      frame(Buffer.from([3, 0xe8]), { opcode: OPCODE.close }),
      frame('', { opcode: OPCODE.close }),
      frame(Buffer.from('{}'), { opcode: OPCODE.binary }),
      frame('x', { rsv: 4 }),
      frame(Buffer.from([0xff])),
      frame('', { announced: 20_000n }),
    ]
    for (const ending of endings) {
      const raw = await open(port, ANEW)
      await say(raw, 1)
      raw.write(ending)
      await raw.closeCode()
      raw.socket.destroy()
      await expect.poll(() => sessions.size).toBe(0)
    }
  })

  test('counts what broke off in the middle as not come', async () => {
    const { port } = await scene(pinged())
    const raw = await open(port, ANEW)
    await say(raw, 1)
    raw.write(ping(2).subarray(0, 9))
    raw.socket.end()
    await raw.closed
    expect(countOf(await open(port, back(raw, 1)))).toBe('1')
  })

  test('takes what came while the client was behind with reading, and answers it over the next connection', async () => {
    const app = server({ streamBytes: 1e9, streamEvents: 1e6, unsentBytes: 1e9 })
    let runs = 0
    app.tool('huge', {}, () => `${runs++}${'x'.repeat(200_000)}`)
    const { port } = await scene(app)
    const raw = await open(port, ANEW)
    raw.socket.pause()
    const ids = Array.from({ length: 100 }, (_, id) => id)
    raw.write(...ids.map((id) => frame(headed('tools/call', { name: 'huge', arguments: {} }, id).body)))
    await expect.poll(() => runs).toBeGreaterThan(1)
    expect(runs).toBeLessThan(100)
    raw.socket.destroy()
    await raw.closed
    await expect.poll(() => runs).toBe(100)
    const next = await open(port, back(raw, 0))
    expect(countOf(next)).toBe('100')
    await next.until(() => next.texts.length === 100)
    expect(next.texts.map((text) => JSON.parse(text).id)).toEqual(ids)
    expect(runs).toBe(100)
  })

  test('believes pongs only that answer what it asked', async () => {
    const { port, sessions } = await scene(pinged({ pingMs: 60_000, pongMs: 60_000 }))
    const raw = await open(port, ANEW)
    await say(raw, 1, 2)
    const { kept } = sessions
    for (const payload of ['2', '99', '-1', 'x', '', '1'.repeat(100)])
      raw.write(frame(payload, { opcode: OPCODE.pong }))
    await say(raw, 3)
    // Of the three messages, each takes as much as the others.
    expect(sessions.kept).toBe((kept / 2) * 3)
    const next = await open(port, back(raw, 0))
    await next.until(() => next.texts.length === 3)
    expect(idOf(next)).toBe(idOf(raw))
  })
})

describe('many', () => {
  test('limits.connections leave room only for clients that resume their own session', async () => {
    const { port, sessions } = await scene(pinged({ connections: 2 }))
    const raw = await open(port, ANEW)
    await say(raw, 1)
    await open(port, ANEW)
    const ask = async (headers: Record<string, string>): Promise<number> =>
      new Raw(port).ask(handshake(port, headers))
    expect(await ask(ANEW)).toBe(503)
    expect(await ask({ 'mcp-session-id': 'x'.repeat(24), 'last-event-id': '0' })).toBe(503)
    const next = await open(port, back(raw, 1))
    await raw.closed
    expect([idOf(next), sessions.size]).toEqual([idOf(raw), 2])
    await say(next, 2)
    expect(await ask(ANEW)).toBe(503)
  })

  test(
    'who come back a thousand times find one session, and leave nothing',
    { timeout: 120_000 },
    async () => {
      const { port, sessions } = await scene(pinged())
      const raw = await open(port, ANEW)
      await say(raw, 1)
      for (let turn = 0; turn < 20; turn++) {
        const all = await Promise.all(Array.from({ length: 50 }, () => open(port, back(raw, 0))))
        expect(new Set(all.map(idOf))).toEqual(new Set([idOf(raw)]))
        for (const one of all) one.socket.destroy()
      }
      expect(sessions.size).toBe(1)
      const last = await open(port, back(raw, 1))
      last.write(frame(Buffer.from([3, 0xe8]), { opcode: OPCODE.close }))
      await expect.poll(() => [sessions.size, sessions.kept]).toEqual([0, 0])
    },
  )

  test('limits.sessions disconnected at the same time: the first is evicted', async () => {
    const app = pinged({ sessions: 3 })
    const { port, sessions } = await scene(app)
    const raws: Raw[] = []
    for (let nth = 0; nth < 5; nth++) {
      const raw = await open(port, ANEW)
      await say(raw, 1)
      raws.push(raw)
    }
    for (const raw of raws) {
      raw.socket.destroy()
      await raw.closed
    }
    await expect.poll(() => sessions.size).toBe(3)
    expect(app.counts.get('session_evicted')).toBe(2)
    // One that said nothing makes nobody leave.
    const silent = await open(port, ANEW)
    silent.socket.destroy()
    await expect.poll(() => app.counts.get('session_evicted')).toBe(3)
    for (const raw of raws.slice(2)) expect(idOf(await open(port, back(raw, 1)))).toBe(idOf(raw))
  })

  test('limits.unsentBytes when too much is buffered, the session with the largest buffer loses it', async () => {
    const app = pinged({ unsentBytes: 5000 })
    const { port, sessions } = await scene(app)
    const away = await open(port, ANEW)
    await say(away, 1)
    away.socket.destroy()
    await away.closed
    // They read, but never say what arrived.
    const greedy = await Promise.all(Array.from({ length: 10 }, () => open(port, ANEW)))
    for (let turn = 0; turn < 30; turn++) for (const raw of greedy) await say(raw, turn)
    expect(sessions.kept).toBeLessThanOrEqual(5000)
    expect(app.counts.get('event_forgotten')).toBeGreaterThan(0)
    expect(sessions.size).toBe(11)
    const again = await open(port, back(away, 0))
    await again.until(() => again.texts.length === 1)
    expect([idOf(again), again.texts]).toEqual([idOf(away), [pong(1)]])
  })

  test('limits.unsentBytes a disconnected session with the largest buffer is evicted', async () => {
    const app = pinged({ unsentBytes: 5000 })
    const { port, sessions } = await scene(app)
    const away = await open(port, ANEW)
    await say(away, ...Array.from({ length: 11 }, (_, id) => id))
    away.socket.destroy()
    await away.closed
    const others = await Promise.all(Array.from({ length: 5 }, () => open(port, ANEW)))
    for (const raw of others) await say(raw, ...Array.from({ length: 9 }, (_, id) => id))
    expect([sessions.size, sessions.kept]).toEqual([5, expect.toSatisfy((kept: number) => kept <= 5000)])
  })

  test('limits.unsentBytes one client never keeps more than a quarter', async () => {
    const { port, sessions } = await scene(pinged({ unsentBytes: 5000 }))
    const greedy = await open(port, ANEW)
    for (let turn = 0; turn < 100; turn++) {
      await say(greedy, turn)
      expect(sessions.kept).toBeLessThanOrEqual(1250)
    }
  })
})

describe('the owner', () => {
  const nothing = (): void => undefined
  const nobody = {
    isBehind: false,
    send: nothing,
    ask: nothing,
    replace: nothing,
    refuse: nothing,
    abort: nothing,
  }
  const headers = (id: string): Record<string, string> => ({ 'mcp-session-id': id, 'last-event-id': '0' })

  test('alone can resume a session, also with a new token', () => {
    const app = pinged()
    const sessions = new WsSessions(serviceOf(app), app.limits)
    const owner: Auth = { iss: 'one', sub: 'u1', token: 'first' }
    const { session } = sessions.open(ANEW, owner) as Opening
    for (const other of [undefined, {}, { sub: 'u1' }, { iss: 'one', sub: 'u2' }, { iss: 'two', sub: 'u1' }])
      expect(sessions.open(headers(session.id), other)?.session.id).not.toBe(session.id)
    const again = { iss: 'one', sub: 'u1', token: 'second' }
    const opening = sessions.open(headers(session.id), again) as Opening
    expect(opening.session).toBe(session)
    session.carryOn(nobody, opening)
    expect(session.connection.source.auth).toBe(again)
  })

  test('a client that resumes too late is rejected, even if the server has not noticed yet', () => {
    const app = pinged({ resumeMs: 1000 })
    let now = 0
    const sessions = new WsSessions(serviceOf(app), app.limits, () => now)
    const { session } = sessions.open(ANEW, undefined) as Opening
    session.carryOn(nobody, { count: 0, auth: undefined })
    session.detach(nobody, false)
    now = 1000
    expect(sessions.open(headers(session.id), undefined)?.session).toBe(session)
    session.carryOn(nobody, { count: 0, auth: undefined })
    session.detach(nobody, false)
    now = 2001
    expect(sessions.open(headers(session.id), undefined)?.session.id).not.toBe(session.id)
    expect(app.counts.get('session_expired')).toBe(1)
  })
})
