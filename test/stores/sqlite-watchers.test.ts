import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { SHARED_SCHEMAS } from '../../src/store/shared-schema.ts'
import { findEngine } from '../../src/store/sqlite-engine.ts'
import { SqliteFile } from '../../src/store/sqlite-file.ts'
import { sqlite, type DriverOf } from '../../src/stores.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-sqlite-watchers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const ROOM = { events: 100, bytes: 100_000, idleMs: 3_600_000 }
type Driver = DriverOf<'tasks' | 'events' | 'changes' | 'cache'>

/** A file that two programs share, each with its own connection, and two streams in it. */
async function share(name: string): Promise<{ own: Driver; other: Driver; path: string }> {
  const path = join(folder, `${name}.db`)
  const open = (): Driver => {
    const driver = sqlite(path, { shared: true, synchronous: 'normal' }) as Driver
    onTestFinished(() => driver.close())
    return driver
  }
  const [own, other] = [open(), open()]
  for (const session of ['a', 'b']) await own.events.open(session, 's', 'node', ROOM)
  return { own, other, path }
}

/** Counts the news of a stream; it has got the first, which all watchers get. */
async function watched({ events }: Driver, session: string): Promise<{ count: number }> {
  const news = { count: 0 }
  onTestFinished(events.watch(session, 's', () => void news.count++))
  await vi.waitFor(() => expect(news.count).toBeGreaterThan(0))
  return news
}

test('a change by another process wakes only those who watch that stream', async () => {
  const { own, other } = await share('one')
  const [a, b] = [await watched(own, 'a'), await watched(own, 'b')]
  const before = b.count
  for (let turn = 1; turn <= 5; turn++) {
    const known = a.count
    await other.cache.set('key', `${turn}`, 60_000)
    await other.changes.publish(`${turn}`)
    await other.events.append('a', 's', { text: 'news' }, ROOM)
    await vi.waitFor(() => expect(a.count).toBeGreaterThan(known))
  }
  expect(b.count).toBe(before)
})

test('a new watcher does not wake the others', async () => {
  const { own } = await share('new')
  const a = await watched(own, 'a')
  const before = a.count
  await watched(own, 'b')
  await watched(own, 'c')
  expect(a.count).toBe(before)
})

test('streams that another process opens, ends or forgets wake those who watch them', async () => {
  const { own, other } = await share('life')
  const [a, c] = [await watched(own, 'a'), await watched(own, 'c')]
  const wakes = async (news: { count: number }, act: () => unknown): Promise<void> => {
    const known = news.count
    await act()
    await vi.waitFor(() => expect(news.count).toBeGreaterThan(known))
  }
  await wakes(c, () => other.events.open('c', 's', 'node', ROOM))
  await wakes(c, () => other.events.append('c', 's', { text: '', isLast: true }, ROOM))
  await wakes(c, () => other.events.forget('c', 's'))
  await wakes(a, () => other.events.forget('a'))
})

test('watchers who missed changes are all woken', async () => {
  const { own, path } = await share('missed')
  const news = [await watched(own, 'a'), await watched(own, 'b')]
  const known = news.map(({ count }) => count)
  const database = findEngine()(path)
  onTestFinished(() => void database.close())
  // More changes than are remembered.
  database.exec(`BEGIN;
    WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 5000)
      INSERT INTO pierhead_logs (session, name, writer, next, first, bytes, is_over, ends_at) SELECT '=' || n, 's', '', 0, 0, 0, 0, 9e15 FROM many;
    COMMIT`)
  await vi.waitFor(() => expect(news.every(({ count }, index) => count > known[index]!)).toBe(true))
  const [rows] = Object.values(
    database.prepare('SELECT count(*) FROM pierhead_log_changes').get() as Record<string, number>,
  )
  expect(rows).toBeLessThanOrEqual(2000)
})

test('a change by a program from before changes were remembered is noticed', async () => {
  const path = join(folder, 'older.db')
  const older = SHARED_SCHEMAS.map((schema) => ({ ...schema, migrations: schema.migrations.slice(0, 1) }))
  const settings = { path, open: findEngine(), synchronous: 'normal', busyMs: 1000 } as const
  const file = new SqliteFile(settings, older)
  onTestFinished(() => file.close())
  await file.write(() =>
    file.run(
      `INSERT INTO pierhead_logs (session, name, writer, next, first, bytes, is_over, ends_at) VALUES ('=a', 's', '', 0, 0, 0, 0, 9e15)`,
    ),
  )
  const own = sqlite(path, { shared: true, synchronous: 'normal' }) as Driver
  onTestFinished(() => own.close())
  const a = await watched(own, 'a')
  const known = a.count
  await file.write(() => file.run(`UPDATE pierhead_logs SET next = 1 WHERE session = '=a'`))
  await vi.waitFor(() => expect(a.count).toBeGreaterThan(known))
})
