import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connect, type Change } from '../../src/client.ts'
import { call } from '../http/messages.ts'
import { open } from '../http/server.ts'
import { load } from './load.ts'
import { isRunning, start } from './start.ts'

test.each(['restart', 'SIGHUP'] as const)('%s under load rejects no request', async (how) => {
  const many = await start({ workers: 2 })
  const old = [...many.pids]
  const stop = new AbortController()
  const seen = load(many.port, 12, stop.signal)
  if (how === 'restart') many.command('restart')
  else many.child.kill('SIGHUP')
  await many.until(() => many.pids.length === 4)
  // Clients move to the new processes while the old ones still run.
  await expect.poll(() => old.some(isRunning)).toBe(false)
  if (how === 'restart') await many.until(() => many.at('restarted').length === 1)
  stop.abort()
  const { requests, problems, pids } = await seen
  expect(problems).toEqual([])
  expect(requests).toBeGreaterThan(100)
  for (const pid of many.pids.slice(2)) expect([...pids]).toContain(String(pid))
  expect(many.at('log')).toEqual([])
})

test('streams, subscriptions and sessions of clients continue in other processes', async () => {
  const many = await start({ workers: 2, limits: { idleMs: 2000 } })
  const old = [...many.pids]
  for (const revision of ['2025-11-25', '2026-07-28'] as const) {
    const client = await connect(many.at0, { revision })
    onTestFinished(() => client.close())
    const changes: Change[] = []
    await client.subscribe('note://a', (change) => void changes.push(change))
    many.command('restart')
    await expect.poll(() => old.every((pid) => !isRunning(pid))).toBe(true)
    // Each touch is heard once, although no process is left that knew the client.
    for (let touches = 1; touches <= 3; touches++) {
      await client.call('touch')
      await expect.poll(() => changes.length).toBeGreaterThanOrEqual(touches)
      // What follows a further answer of the server was on its way before.
      await client.call('who')
      expect(changes).toHaveLength(touches)
    }
    old.splice(0, old.length, ...many.pids.slice(-2))
  }
})

test('a process whose connections are idle ends when clients should have closed them', async () => {
  const many = await start({ workers: 2, limits: { idleMs: 1500 } })
  const old = [...many.pids]
  const { Agent } = await import('node:http')
  const { send } = await import('../http/wire.ts')
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const session = await open(many.port)
  for (let at = 0; at < 3; at++) await send(many.port, { body: call('who'), headers: session.headers, agent })
  many.command('restart')
  await many.until(() => many.at('restarted').length === 1)
  expect(old.some(isRunning)).toBe(false)
})

test('a restart while old processes wait for their clients replaces the newer ones', async () => {
  const many = await start({ workers: 2 })
  const { Agent } = await import('node:http')
  const { send } = await import('../http/wire.ts')
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const session = await open(many.port)
  for (let at = 0; at < 2; at++) await send(many.port, { body: call('who'), headers: session.headers, agent })
  many.command('restart')
  await many.until(() => many.pids.length === 4)
  const [first, second, ...newer] = many.pids
  expect([first, second].some((pid) => isRunning(pid as number))).toBe(true)
  // The first restart may still be about to replace the second process.
  await expect
    .poll(() => {
      many.command('restart')
      return newer.some(isRunning)
    })
    .toBe(false)
})

test('if the new program does not start, the old processes stay', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-workers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const brokenBy = join(folder, 'broken')
  const many = await start({ workers: 2, brokenBy })
  writeFileSync(brokenBy, '')
  many.command('restart')
  await many.until(() => many.at('failed').length === 1)
  expect(many.at('failed')[0]?.message).toBe('worker 1 ended with code 3 before it was listening')
  expect(many.pids.map(isRunning)).toEqual([true, true])
  rmSync(brokenBy)
  many.command('restart')
  await many.until(() => many.at('restarted').length === 1)
})

test('a worker that is stuck does not keep a restart from ending', async () => {
  const many = await start({ workers: 2, limits: { idleMs: 500, drainMs: 100 } })
  const old = [...many.pids]
  process.kill(old[0] as number, 'SIGSTOP')
  many.command('restart')
  await many.until(() => many.at('restarted').length === 1)
  expect(old.some(isRunning)).toBe(false)
})
