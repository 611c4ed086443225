import { ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createTree } from './tree.ts'

async function start(script = 'process.stdin.resume()'): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', script], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  return child
}

/** Simulates a Windows that lacks taskkill. */
function pretendWindows(): void {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-tree-'))
  const platform = Object.getOwnPropertyDescriptor(process, 'platform') as PropertyDescriptor
  Object.defineProperty(process, 'platform', { ...platform, value: 'win32' })
  vi.stubEnv('SystemRoot', folder)
  onTestFinished(() => {
    Object.defineProperty(process, 'platform', platform)
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
}

test('a tree that cannot be killed on Windows does no harm, and is still alive', async () => {
  const child = await start()
  pretendWindows()
  const tree = createTree(child)
  const emit = vi.spyOn(ChildProcess.prototype, 'emit')
  onTestFinished(() => emit.mockRestore())
  tree.signal('SIGTERM')
  await expect.poll(() => emit.mock.calls.map(([event]) => event)).toContain('error')
  const at = emit.mock.calls.findIndex(([event]) => String(event) === 'error')
  expect(emit.mock.calls[at]?.[1]).toMatchObject({
    code: 'ENOENT',
    spawnargs: ['/pid', String(child.pid), '/t', '/f'],
  })
  expect(emit.mock.results[at]).toEqual({ type: 'return', value: true })
  expect(() => tree.killNow()).not.toThrow()
  expect(tree.isAlive()).toBe(true)
})

test('on Windows a tree ends with its root process', async () => {
  const child = await start()
  pretendWindows()
  const tree = createTree(child)
  child.stdin?.end()
  await once(child, 'exit')
  expect(tree.isAlive()).toBe(false)
  await tree.gone(Infinity)
})
