import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { toLimits } from '../../src/base/limits.ts'
import { isAlive } from './alive.ts'
import { kindOf, open, program, until } from './open.ts'

const SIGNALS = ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const
const listeners = (): readonly number[] => SIGNALS.map((name) => process.listenerCount(name))
const timed = async (work: Promise<unknown>): Promise<number> => {
  const before = performance.now()
  await work
  return performance.now() - before
}

test('closing ends stdin and waits until the server has gone by itself [R063] [S4-5-9]', async () => {
  const { line, result, downs } = await open({ closeMs: 600_000 })
  const { pid } = await result('facts')
  await line.close()
  expect(isAlive(pid)).toBe(false)
  expect(downs).toEqual([])
})

test('a server sees the end of its input before any signal [S4-5-9]', async () => {
  const code =
    "process.on('SIGTERM', () => {}); process.stdin.resume().on('end', () => console.error('ended'))"
  const { line, notes } = await open({ args: ['-e', code] })
  await line.close()
  expect(notes).toEqual(['stderr: ended'])
})

test('closing twice is closing once, and what waited is rejected', async () => {
  const { line, call } = await open()
  const waiting = kindOf(call('silence'))
  expect(line.close()).toBe(line.close())
  expect(await waiting).toBe('closed')
  await expect(call('late')).rejects.toMatchObject({ kind: 'closed' })
  await line.close()
})

test('what a server writes to stdout after closing reaches nobody', async () => {
  const code = `
    const late = '{"jsonrpc":"2.0","method":"notifications/late"}\\nno message\\n'
    process.stdin.resume().on('end', () => process.stdout.write(late, () => console.error('written')))`
  const { line, messages, notes } = await open({ args: ['-e', code], closeMs: 600_000 })
  await line.close()
  expect([messages, notes]).toEqual([[], ['stderr: written']])
})

test('what a server writes after its connection broke reaches nobody, not even in the same chunk', async () => {
  const { line, call, messages, notes, down } = await open({ limits: { ...toLimits(), clientBytes: 1000 } })
  const waiting = [kindOf(call('silence')), kindOf(call('silence'))]
  const late = `{"x":"${'x'.repeat(1000)}"}\n{"jsonrpc":"2.0","method":"notifications/late"}\n\xff\n`
  waiting.push(kindOf(call('bytes', { hex: Buffer.from(late, 'latin1').toString('hex') })))
  expect(await down).toMatchObject({ kind: 'answer_too_large' })
  expect(await Promise.all(waiting)).toEqual(Array.from({ length: 3 }, () => 'answer_too_large'))
  await line.close()
  expect([messages, notes]).toEqual([[], []])
})

test('a server that neither the end of stdin nor SIGTERM moves is killed [R063]', async () => {
  const { line, result, notes } = await open({ args: [program('stubborn.mjs')], closeMs: 100 })
  const { pid } = await result('who')
  const ms = await timed(line.close())
  expect(isAlive(pid)).toBe(false)
  expect(ms).toBeGreaterThan(1000)
  expect(notes).toContain('stderr: no')
})

test('a server that only SIGTERM moves is ended by it [R063]', async () => {
  const code = `
    process.stdin.resume()
    setInterval(() => {}, 1000)
    process.on('SIGTERM', () => { console.error('terminated'); process.exit() })
    console.log('{"jsonrpc":"2.0","method":"ready"}')`
  const { line, messages, notes } = await open({ args: ['-e', code], closeMs: 100 })
  await until(() => messages.length === 1)
  await line.close()
  expect(notes).toContain('stderr: terminated')
})

test('a shell between us and the server goes with what it left in the background [R063]', async () => {
  const script = 'sleep 300 & echo "{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"$!\\"}"; "$0" "$1"'
  const args = ['-c', script, process.execPath, program('server.mjs')]
  const { line, result, messages } = await open({ command: 'sh', args })
  const { pid } = await result('facts')
  const background = Number(messages[0]?.method)
  expect([isAlive(pid), isAlive(background)]).toEqual([true, true])
  await line.close()
  expect([isAlive(pid), isAlive(background)]).toEqual([false, false])
})

test('a background process that ignores SIGTERM is killed', async () => {
  const script = `(trap '' TERM; while :; do sleep 1; done) & echo "{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"$!\\"}"; cat`
  const { line, messages } = await open({ command: 'sh', args: ['-c', script] })
  await until(() => messages.length === 1)
  const background = Number(messages[0]?.method)
  await line.close()
  expect(isAlive(background)).toBe(false)
})

test('fifty times opened and closed leaves no process, handle or listener', async () => {
  const before = { listeners: listeners(), resources: process.getActiveResourcesInfo().length }
  const pids: unknown[] = []
  for (let round = 0; round < 10; round++) {
    const all = await Promise.all(Array.from({ length: 5 }, () => open()))
    expect(listeners()).toEqual(before.listeners.map((count) => count + 1))
    pids.push(...(await Promise.all(all.map(async ({ result }) => (await result('facts'))['pid']))))
    await Promise.all(all.map(({ line }) => line.close()))
  }
  expect(new Set(pids).size).toBe(50)
  expect(pids.filter(isAlive)).toEqual([])
  expect(listeners()).toEqual(before.listeners)
  await until(() => process.getActiveResourcesInfo().length <= before.resources)
  await expect(open({ command: 'no-such-program' })).rejects.toMatchObject({ kind: 'connect_failed' })
  expect(listeners()).toEqual(before.listeners)
})

describe('when we die', () => {
  test.each([
    ['by ending normally', 'exit', { code: 0, signal: null }],
    ['by an error that nobody catches', 'throw', { code: 1, signal: null }],
    ['by SIGTERM', 'SIGTERM', { code: null, signal: 'SIGTERM' }],
    ['by SIGINT', 'SIGINT', { code: null, signal: 'SIGINT' }],
    ['by SIGHUP', 'SIGHUP', { code: null, signal: 'SIGHUP' }],
    ['by a signal that we handle ourselves', 'handled', { code: 5, signal: null }],
    ['by a signal that another package looks at', 'looked-at', { code: null, signal: 'SIGTERM' }],
  ])('%s, even a stubborn server goes with us', async (_, way, expected) => {
    const { pids, exit } = await parent(way, 'stubborn.mjs')
    expect(await exit).toEqual(expected)
    await until(() => !pids.some(isAlive))
  })

  test('by SIGKILL, the server sees the end of its stdin and goes', async () => {
    const { pids, exit } = await parent('SIGKILL', 'server.mjs')
    expect(await exit).toEqual({ code: null, signal: 'SIGKILL' })
    await until(() => !pids.some(isAlive))
  })
})

interface Parent {
  readonly pids: readonly number[]
  readonly exit: Promise<{ code: number | null; signal: string | null }>
}

/** A process that opens two lines, tells the pids, and dies in the given way. */
async function parent(way: string, server: string): Promise<Parent> {
  const child = spawn(process.execPath, ['--import', 'tsx', program('parent.ts'), way, program(server)], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const exit = once(child, 'exit').then(([code, signal]) => ({ code, signal }))
  const [bytes] = (await once(child.stdout, 'data')) as [Buffer]
  const pids = JSON.parse(bytes.toString()) as number[]
  expect(pids.filter(isAlive)).toHaveLength(2)
  if (way.startsWith('SIG')) child.kill(way as NodeJS.Signals)
  else if (way === 'handled' || way === 'looked-at') child.kill('SIGTERM')
  else child.stdin.write('now')
  return { pids, exit }
}
