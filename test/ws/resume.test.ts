import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { State } from '../../src/client.ts'
import { Gate } from '../http/server.ts'
import { scene, server, waiting, type Seen } from './scene.ts'

const REVISIONS = ['2025-11-25', '2026-07-28'] as const
const none = (): Seen => ({ runs: 0, stopped: 0 })
const idOf = (head: string): string | undefined => /^mcp-session-id: (.*)$/im.exec(head)?.[1]

describe.each(REVISIONS)('at %s, when the connection breaks', (revision) => {
  test('a call that runs is answered over the next one, having run once', async () => {
    const gate = new Gate()
    const seen = none()
    const { way, join, sessions } = await scene(waiting(gate, seen))
    const client = await join({ revision })
    const states: State[] = []
    client.on('state', (state) => states.push(state))
    const call = client.call('wait')
    await gate.entered
    way.cut()
    await expect.poll(() => way.heads.length).toBe(2)
    gate.open()
    expect(await call).toBe('done')
    expect(seen).toEqual({ runs: 1, stopped: 0 })
    expect(states).toEqual([])
    expect(idOf(way.heads[0] as string)).toBeUndefined()
    expect(idOf(way.heads[1] as string)).toMatch(/^[\w-]{24}$/)
    expect(sessions.size).toBe(1)
  })

  test('an answer that was on its way comes over the next one', async () => {
    const gate = new Gate()
    const seen = none()
    const { way, join } = await scene(waiting(gate, seen))
    const client = await join({ revision })
    const call = client.call('wait')
    await gate.entered
    way.cutAfter(7, 'down')
    gate.open()
    expect(await call).toBe('done')
    expect(seen.runs).toBe(1)
  })

  test('a request that was on its way arrives over the next one', async () => {
    const gate = new Gate()
    gate.open()
    const seen = none()
    const { way, join } = await scene(waiting(gate, seen))
    const client = await join({ revision })
    way.cutAfter(7, 'up')
    expect(await client.call('wait')).toBe('done')
    expect(seen.runs).toBe(1)
  })

  test('requests made while there is none wait for the next', async () => {
    const gate = new Gate()
    gate.open()
    const seen = none()
    const { way, join, sessions } = await scene(waiting(gate, seen))
    const client = await join({ revision })
    const allow = way.refuse()
    way.cut()
    await expect.poll(() => way.open).toBe(0)
    const calls = Promise.all(Array.from({ length: 20 }, () => client.call('wait')))
    allow()
    expect(await calls).toEqual(Array.from({ length: 20 }, () => 'done'))
    expect(seen.runs).toBe(20)
    expect(sessions.size).toBe(1)
  })

  test('news of a watched resource is not missed [S2-3.4-4]', async () => {
    const app = server().resource('note://one', { name: 'one' }, () => 'text')
    const { way, join } = await scene(app)
    const client = await join({ revision })
    const news: unknown[] = []
    await client.subscribe('note://one', (change) => news.push(change))
    const allow = way.refuse()
    way.cut()
    await expect.poll(() => way.open).toBe(0)
    app.updated('note://one')
    allow()
    await expect.poll(() => news).toEqual([{ kind: 'resource', uri: 'note://one' }])
  })
})

test('a question that is asked in between is answered', async () => {
  const gate = new Gate()
  const app = server().tool('ask', {}, async (_, { elicit }) => {
    gate.enter()
    await gate.opened
    const { action } = await elicit('really?', { type: 'object', properties: {} })
    return action
  })
  const { way, join } = await scene(app)
  const client = await join({ answers: { elicit: async () => ({ action: 'decline' }) } })
  const call = client.call('ask')
  await gate.entered
  const allow = way.refuse()
  way.cut()
  await expect.poll(() => way.open).toBe(0)
  gate.open()
  allow()
  expect(await call).toBe('decline')
})

test('two hundred cuts in random places lose nothing and double nothing', { timeout: 60_000 }, async () => {
  const CALLS = 1500
  const STEPS = 3
  const ran = new Map<number, number>()
  const input = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const
  const app = server().tool('step', { input }, async ({ n }, { progress }) => {
    ran.set(n, (ran.get(n) ?? 0) + 1)
    for (let step = 1; step <= STEPS; step++) {
      progress(step)
      await new Promise((resolve) => setTimeout(resolve, n % 5))
    }
    return `${n} ${'x'.repeat(n % 700)}`
  })
  const { way, join, sessions } = await scene(app)
  const client = await join()
  const heard = new Map<number, number[]>()
  let next = 0
  const work = async (): Promise<void> => {
    while (next < CALLS || way.heads.length <= 200) {
      const n = next++
      const steps: number[] = []
      heard.set(n, steps)
      const answer = await client.call(
        'step',
        { n },
        { onProgress: ({ progress = 0 }) => steps.push(progress) },
      )
      expect(answer).toBe(`${n} ${'x'.repeat(n % 700)}`)
    }
  }
  let working = true
  const cutting = (async () => {
    for (let cuts = way.heads.length; working; cuts = way.heads.length) {
      const where = randomInt(1000)
      if (where < 100) way.cut()
      else way.cutAfter(where * 2, where % 2 === 0 ? 'up' : 'down')
      await expect.poll(() => !working || way.heads.length > cuts, { interval: 1 }).toBe(true)
    }
  })()
  await Promise.all(Array.from({ length: 16 }, work))
  working = false
  await cutting
  expect(way.heads.length).toBeGreaterThan(200)
  expect([...ran.values()].filter((times) => times !== 1)).toEqual([])
  expect(ran.size).toBe(next)
  const wrong = [...heard].filter(([, steps]) => steps.join() !== '1,2,3')
  expect(wrong).toEqual([])
  expect(new Set(way.heads.slice(1).map(idOf)).size).toBe(1)
  expect(sessions.size).toBe(1)
  await client.close()
  await expect.poll(() => [sessions.size, sessions.kept]).toEqual([0, 0])
})

test('a client that closes while the next connection opens lets go of it', { timeout: 15_000 }, async () => {
  const { way, join } = await scene(server())
  const client = await join()
  await client.server()
  const silent = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void silent.close())
  await once(silent, 'listening')
  const dialled = once(silent, 'connection')
  way.leadTo((silent.address() as AddressInfo).port)
  way.cut()
  const [socket] = (await dialled) as [Socket]
  const left = once(socket.on('error', () => undefined).resume(), 'close')
  await client.close()
  await left
  expect(way.open).toBe(0)
})
