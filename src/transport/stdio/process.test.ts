import { once } from 'node:events'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { startProcess, type ServerProcess } from './process.ts'

/** A program that repeats what it reads, until there is nothing more. */
async function startEcho(): Promise<ServerProcess> {
  const args = ['-e', 'process.stdin.pipe(process.stdout)']
  const launch = { file: process.execPath, args, cwd: process.cwd(), env: {}, verbatim: false, left: [] }
  const started = await startProcess(launch, 'pipe')
  onTestFinished(() => started.stop(5000))
  return started
}

test('a process whose error output breaks is still spoken with', async () => {
  const echo = await startEcho()
  const broken = new Promise((resolve) => echo.stderr?.once('close', resolve))
  echo.stderr?.destroy(new Error('broken'))
  await broken
  const heard = once(echo.stdout, 'data')
  echo.stdin.write('hello')
  expect(String((await heard)[0])).toBe('hello')
})
