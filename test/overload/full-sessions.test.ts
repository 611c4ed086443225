import { expect, onTestFinished, test, vi } from 'vitest'
import { HttpSession, type Sessions } from '../../src/transport/http/server/sessions.ts'
import { start } from '../http/server.ts'

const COUNT = 1000
const ONE = { ip: '192.0.2.1' }
const OTHER = { ip: '198.51.100.1' }

/** A full table of sessions that one address opened, one each millisecond. */
async function full(): Promise<{ sessions: Sessions; clock: { now: number }; looks: () => number }> {
  const clock = { now: 0 }
  const { endpoint } = await start(undefined, { limits: { sessions: COUNT }, now: () => clock.now })
  const { sessions } = endpoint
  for (; clock.now < COUNT; clock.now++) sessions.keep(sessions.create(ONE))
  const busy = vi.spyOn(HttpSession.prototype, 'busy', 'get')
  onTestFinished(() => busy.mockRestore())
  return { sessions, clock, looks: () => busy.mock.calls.length }
}

test('L.sessions a newcomer that is refused because all sessions are in use does not look at each of them', async () => {
  const { sessions, looks } = await full()
  for (let at = 0; at < COUNT; at++) expect(() => sessions.create(ONE)).toThrow('sessions')
  expect(looks()).toBeLessThan(4 * COUNT)
})

test('L.sessions newcomers evict those that were idle for longest, and do not look at all for each', async () => {
  const { sessions, clock, looks } = await full()
  clock.now = 20_000
  const ids = [...sessions].map(({ id }) => id)
  const used = ids[1] as string
  sessions.get(used, undefined)
  for (let at = 0; at < COUNT / 2; at++) sessions.keep(sessions.create(ONE))
  const gone = new Set([ids[0], ...ids.slice(2, COUNT / 2 + 1)])
  expect(ids.filter((id) => sessions.find(id) === undefined)).toEqual([...gone])
  expect(looks()).toBeLessThan(6 * COUNT)
})

test('L.sessions an address with few sessions gets places of one with many, also of those in use', async () => {
  const { sessions } = await full()
  expect(() => sessions.create(ONE)).toThrow('sessions')
  for (let at = 0; at < 20; at++) sessions.keep(sessions.create(OTHER))
  expect([...sessions].filter(({ countedFor }) => countedFor.includes('198'))).toHaveLength(20)
})

test('L.sessions whoever was refused finds room when sessions were idle for a moment', async () => {
  const { sessions, clock } = await full()
  expect(() => sessions.create(ONE)).toThrow('sessions')
  clock.now = 10_500
  sessions.keep(sessions.create(ONE))
  expect(sessions.size).toBe(COUNT)
})
