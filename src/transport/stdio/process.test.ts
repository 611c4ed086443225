import { once } from 'node:events'
import process from 'node:process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startProcess, type ServerProcess } from './process.ts'

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
