import { once } from 'node:events'
import process from 'node:process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startProcess, type Ending, type ServerProcess } from './process.ts'

const SETTLE_MS = 200
const MAX_LOOKS = 10

/** A program that echoes its input until the end. */
function startEcho(): Promise<ServerProcess> {
  return start('process.stdin.pipe(process.stdout)')
}

async function start(script: string): Promise<ServerProcess> {
  const args = ['-e', script]
  const launch = { file: process.execPath, args, cwd: process.cwd(), env: {}, verbatim: false, left: [] }
  const started = await startProcess(launch, 'pipe')
  onTestFinished(() => started.stop(5000))
  return started
}

test('a process whose stderr breaks stays usable', async () => {
  const echo = await startEcho()
  const broken = new Promise((resolve) => echo.stderr?.once('close', resolve))
  echo.stderr?.destroy(new Error('broken'))
  await broken
  const heard = once(echo.stdout, 'data')
  echo.stdin.write('hello')
  expect(String((await heard)[0])).toBe('hello')
})

test('a process that does not exit gets SIGTERM before SIGKILL', async () => {
  const stubborn = await start(`
    setInterval(() => undefined, 1000)
    process.on('SIGTERM', () => process.stdout.write('asked', () => process.exit()))
    process.stdout.write('ready ')
  `)
  let said = ''
  stubborn.stdout.on('data', (chunk: Buffer) => void (said += chunk.toString()))
  const closed = once(stubborn.stdout, 'close')
  await once(stubborn.stdout, 'data')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  let isStopped = false
  const stopped = stubborn.stop(1).then(() => (isStopped = true))
  onTestFinished(async () => {
    while (!isStopped) await vi.advanceTimersByTimeAsync(100)
    await stopped
  })
  await vi.advanceTimersByTimeAsync(1)
  await closed
  expect(said).toBe('ready asked')
})

/** Breaks the stdin of a process that goes on, and pretends that output arrives at each of so many looks. */
async function breakInput(
  busyLooks: number,
): Promise<{ readonly endings: readonly Ending[]; look(): Promise<void> }> {
  const started = await start('setInterval(() => undefined, 1000)')
  onTestFinished(() => started.stop(1))
  let reads = 0
  // Every look reads it twice.
  Object.defineProperty(started.stdout, 'bytesRead', { get: () => Math.min(reads++, 2 * busyLooks) })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const endings: Ending[] = []
  void started.finished.then((ending) => endings.push(ending))
  const closed = new Promise((resolve) => started.stdin.once('close', resolve))
  started.stdin.destroy(new Error('broken'))
  await closed
  const look = async (): Promise<void> => {
    await vi.advanceTimersByTimeAsync(SETTLE_MS)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { endings, look }
}

test('the end is reported when no more output arrives', async () => {
  const { endings, look } = await breakInput(3)
  for (let count = 0; count < 3; count++) {
    await look()
    expect([endings, vi.getTimerCount()]).toEqual([[], 1])
  }
  await look()
  expect([endings, vi.getTimerCount()]).toEqual([
    [{ how: 'closed its input', exitCode: null, signal: null }],
    0,
  ])
})

test('the end is reported at last although output goes on arriving', async () => {
  const { endings, look } = await breakInput(Infinity)
  for (let count = 1; count < MAX_LOOKS; count++) {
    await look()
    expect(endings).toEqual([])
  }
  await look()
  expect([endings.length, vi.getTimerCount()]).toEqual([1, 0])
})
