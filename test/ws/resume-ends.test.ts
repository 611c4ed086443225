import { describe, expect, test } from 'vitest'
import { connect, type State } from '../../src/client.ts'
import { Gate } from '../http/server.ts'
import { scripted } from './peer.ts'
import { scene, server, waiting, type Seen } from './scene.ts'

const kindOf = (error: unknown): string => (error as { kind: string }).kind
const none = (): Seen => ({ runs: 0, stopped: 0 })

test('a server that is there no more without a word is left by the heartbeat, and the session goes on', async () => {
  const gate = new Gate()
  const seen = none()
  const { way, join, sessions } = await scene(waiting(gate, seen))
  const client = await join({ heartbeat: 50 })
  const call = client.call('wait')
  await gate.entered
  way.freeze()
  await expect.poll(() => way.heads.length).toBe(2)
  gate.open()
  expect(await call).toBe('done')
  expect([seen, sessions.size]).toEqual([{ runs: 1, stopped: 0 }, 1])
})

describe('a session ends', () => {
  test('limits.resumeMs when the client stays away for so long', async () => {
    const gate = new Gate()
    const seen = none()
    const app = waiting(gate, seen, { resumeMs: 100 })
    const { way, join, sessions } = await scene(app)
    const client = await join({ limits: { resumeMs: 50 } })
    const call = client.call('wait').catch(kindOf)
    await gate.entered
    way.refuse()
    way.cut()
    expect(await call).toBe('stream_lost')
    await expect.poll(() => seen.stopped).toBe(1)
    expect([sessions.size, sessions.kept, app.counts.get('session_expired')]).toEqual([0, 0, 1])
  })

  test('when the client resumes too late, which then opens a new one [S2-13-C11]', async () => {
    const gate = new Gate()
    const seen = none()
    const app = waiting(gate, seen, { resumeMs: 30 })
    const { way, join, sessions } = await scene(app)
    const client = await join()
    const states: State[] = []
    client.on('state', (state) => states.push(state))
    const call = client.call('wait').catch(kindOf)
    const again = client.call('wait', {}, { idempotent: true })
    await gate.entered
    const allow = way.refuse()
    way.cut()
    await expect.poll(() => sessions.size).toBe(0)
    gate.open()
    allow()
    expect([await call, await again]).toEqual(['stream_lost', 'done'])
    expect(states).toEqual(['reconnecting', 'ready'])
    expect(seen).toEqual({ runs: 3, stopped: 2 })
    await expect.poll(() => sessions.size).toBe(1)
  })

  test('at once when the client says that it leaves', async () => {
    const gate = new Gate()
    const seen = none()
    const { join, sessions } = await scene(waiting(gate, seen))
    const client = await join()
    const call = client.call('wait').catch(kindOf)
    await gate.entered
    await client.close()
    expect(await call).toBe('closed')
    await expect.poll(() => [seen.stopped, sessions.size]).toEqual([1, 0])
  })

  test('when the server stops, also while the client is away', async () => {
    const gate = new Gate()
    const seen = none()
    const { way, join, sessions, close } = await scene(waiting(gate, seen))
    const client = await join()
    const call = client.call('wait').catch(kindOf)
    await gate.entered
    way.refuse()
    way.cut()
    await expect.poll(() => way.open).toBe(0)
    await close()
    expect([seen.stopped, sessions.size]).toEqual([1, 0])
    await client.close()
    expect(await call).toBe('closed')
  })

  test('when the connection breaks while the server is stopping', async () => {
    const gate = new Gate()
    const seen = none()
    const { way, join, sessions, close } = await scene(waiting(gate, seen))
    const client = await join()
    const call = client.call('wait').catch(kindOf)
    await gate.entered
    const closing = close()
    way.cut()
    await closing
    expect([seen.stopped, sessions.size]).toEqual([1, 0])
    await client.close()
    expect(await call).toBe('closed')
  })

  test('with its server: what is safe is asked for again from the next, what is not fails [S2-13-C11]', async () => {
    const seen = none()
    const gate = new Gate()
    const first = await scene(waiting(gate, seen))
    const client = await first.join()
    const call = client.call('wait').catch(kindOf)
    const again = client.call('wait', {}, { idempotent: true })
    await gate.entered
    // The relay leads to another server from now on, as after a restart.
    gate.open()
    const second = await scene(waiting(gate, seen))
    const allow = first.way.refuse()
    first.way.leadTo(second.port)
    first.way.cut()
    allow()
    expect([await call, await again]).toEqual(['stream_lost', 'done'])
    await expect.poll(() => second.sessions.size).toBe(1)
  })
})

describe('nothing is resumed', () => {
  test('when nothing listens any more: pending requests fail at once', async () => {
    const { url, server: listener } = await scripted((_asked, socket) => {
      listener.close()
      socket.terminate()
    })
    listener.on('headers', (headers) => headers.push('Mcp-Session-Id: one', 'Last-Event-ID: 0'))
    const client = await connect(url, { revision: '2025-11-25', limits: { resumeMs: 600_000 } })
    expect(await client.call('anything').catch(kindOf)).toBe('stream_lost')
    await client.close()
  })

  test.each([
    ['the server', { resumeMs: 0 }, {}],
    ['the client', {}, { resumeMs: 0 }],
  ])('where resumeMs of %s is 0', async (_, ours, theirs) => {
    const gate = new Gate()
    const seen = none()
    const { way, join, sessions } = await scene(waiting(gate, seen, ours))
    const client = await join({ limits: theirs })
    const call = client.call('wait').catch(kindOf)
    await gate.entered
    way.cut()
    expect(await call).toBe('stream_lost')
    await expect.poll(() => seen.stopped).toBe(1)
    expect([sessions.size, way.heads[0]]).toEqual([0, expect.not.stringContaining('mcp-session-id')])
  })

  test('by a client whose server kept none', async () => {
    const { url } = await scripted((_asked, socket) => socket.terminate())
    const client = await connect(url, { revision: '2025-11-25' })
    expect(await client.call('anything').catch(kindOf)).toBe('stream_lost')
    await client.close()
  })

  test('for ever, when every connection breaks again before anything came over it', async () => {
    let opened = 0
    const { url, server: listener } = await scripted((_asked, socket) => socket.terminate())
    listener.on('headers', (headers) => {
      headers.push('Mcp-Session-Id: one', `Last-Event-ID: ${opened++ === 0 ? 0 : 2}`)
    })
    const limits = { resumeMs: 300, reconnectFirstMs: 20, reconnectFloorMs: 1 }
    const client = await connect(url, { revision: '2025-11-25', limits })
    const warnings: string[] = []
    client.on('warning', (text) => warnings.push(text))
    expect(await client.call('anything', {}, { idempotent: false }).catch(kindOf)).toBe('stream_lost')
    expect(opened).toBeGreaterThan(2)
    expect(opened).toBeLessThan(10)
    expect(warnings[0]).toBe('the connection broke; resuming the session')
    await client.close()
  })

  test('where the server says that it got what was never sent', async () => {
    const { url, server: listener } = await scripted((_asked, socket) => socket.terminate())
    listener.on('headers', (headers) => headers.push('Mcp-Session-Id: one', 'Last-Event-ID: 99'))
    const client = await connect(url, { revision: '2025-11-25' })
    expect(await client.call('anything').catch(kindOf)).toBe('stream_lost')
    await client.close()
  })
})

describe('what is kept', () => {
  test('is discarded when it is known to have arrived, on both sides', async () => {
    const { join, sessions } = await scene(
      server({ pongMs: 100 }).tool('long', {}, () => 'x'.repeat(100_000)),
    )
    const client = await join()
    await Promise.all(Array.from({ length: 10 }, () => client.call('long')))
    expect(sessions.kept).toBeGreaterThan(0)
    await expect.poll(() => sessions.kept).toBe(0)
    expect(sessions.size).toBe(1)
  })

  test('limits.streamBytes is known to have arrived before it is too much', async () => {
    const app = server({ streamBytes: 100_000 }).tool('long', {}, () => 'x'.repeat(20_000))
    const { join, sessions } = await scene(app)
    const client = await join()
    for (let turn = 0; turn < 50; turn++) {
      await client.call('long')
      expect(sessions.kept).toBeLessThan(100_000)
    }
    expect(app.counts.get('event_forgotten')).toBeUndefined()
  })

  test('limits.streamEvents of a client that is away is not more than so much: then its session ends', async () => {
    const gate = new Gate()
    let stopped = 0
    const app = server({ streamEvents: 10 })
      .resource('note://one', { name: 'one' }, () => 'text')
      .tool('wait', {}, async (_, { signal }) => {
        gate.enter()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        stopped++
      })
    const { way, join, sessions } = await scene(app)
    const client = await join()
    await client.subscribe('note://one', () => undefined)
    const call = client.call('wait').catch(kindOf)
    await gate.entered
    const allow = way.refuse()
    way.cut()
    await expect.poll(() => way.open).toBe(0)
    await expect
      .poll(() => {
        app.updated('note://one')
        return stopped
      })
      .toBe(1)
    expect([sessions.size, sessions.kept]).toEqual([0, 0])
    expect(app.counts.get('event_forgotten')).toBeGreaterThan(0)
    allow()
    expect(await call).toBe('stream_lost')
  })

  test('by a client without a connection is not without end', async () => {
    const { way, join } = await scene(server().tool('one', {}, () => 'done'))
    const client = await join({ recovery: false })
    const allow = way.refuse()
    way.cut()
    await expect.poll(() => way.open).toBe(0)
    const calls = Array.from({ length: 1100 }, () => client.call('one').catch(kindOf))
    allow()
    const answers = await Promise.all(calls)
    expect(new Set(answers)).toEqual(new Set(['done', 'overloaded']))
    expect(answers.filter((answer) => answer === 'done').length).toBeGreaterThanOrEqual(990)
  })
})
