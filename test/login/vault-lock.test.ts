import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  askPs,
  createOwner,
  isRunning,
  readOwner,
  startInProc,
  startInPs,
} from '../../src/auth/client/lock-owner.ts'
import { LOCK_TIMES, withLock, type LockTimes } from '../../src/auth/client/vault-lock.ts'
import { folder, startProgram } from './vault-child.ts'

/** No test waits for silence unless it says so. */
const TIMES: LockTimes = { ...LOCK_TIMES, silence: 600_000 }

const newFolder = (): string => mkdtempSync(join(folder, 'locks-'))

/** Takes the lock, and says how long that took. */
async function take(path: string, times: LockTimes = TIMES): Promise<number> {
  const before = performance.now()
  return withLock(path, 'a', async () => performance.now() - before, times)
}

/** Takes the lock for somebody else. */
function pretend(path: string, owner: string): string {
  const file = join(path, 'a', owner)
  mkdirSync(join(path, 'a'))
  writeFileSync(file, '')
  return file
}

const FOREIGN = `${process.pid}.1.${'0'.repeat(16)}.${'0'.repeat(36)}`

test('a lock is released after success and failure, and leaves nothing behind', async () => {
  const path = newFolder()
  expect(await withLock(path, 'a', async () => readdirSync(path))).toEqual(['a'])
  await expect(withLock(path, 'a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await withLock(path, 'a', async () => 'yes')).toBe('yes')
  expect(readdirSync(path)).toEqual([])
})

test('locks with different names do not wait for each other', async () => {
  const path = newFolder()
  await withLock(path, 'a', async () => {
    expect(await withLock(path, 'b', async () => 'b')).toBe('b')
  })
})

test('the lock of a killed process is released at once', async () => {
  const path = newFolder()
  const program = startProgram('hold', path)
  expect(await program.line()).toBe('held')
  expect(readdirSync(join(path, 'a'))).toHaveLength(1)
  await program.kill()
  expect(await take(path)).toBeLessThan(5000)
})

test('the lock of a killed process whose parent has not noticed is released at once', async () => {
  const path = newFolder()
  const program = startProgram('hold', path)
  expect(await program.line()).toBe('held')
  // While this thread does nothing else, nobody fetches the exit code: the process id still exists.
  program.child.kill('SIGKILL')
  const file = `/proc/${program.child.pid}/stat`
  let state = ''
  while (state !== 'ended') state = startInProc(readFileSync(file, 'latin1'))
  const [owner] = readdirSync(join(path, 'a')) as [string]
  const reply = isRunning(readOwner(owner)!)
  expect(await reply).toBe(false)
  expect(await take(path)).toBeLessThan(5000)
})

test('a process that is stopped or slow keeps its lock', async () => {
  const path = newFolder()
  const program = startProgram('hold', path)
  expect(await program.line()).toBe('held')
  program.child.kill('SIGSTOP')
  let isTaken = false
  const taken = withLock(path, 'a', async () => void (isTaken = true), {
    ...LOCK_TIMES,
    silence: 50,
    patience: 1000,
  })
  await expect(taken).rejects.toMatchObject({ kind: 'vault_locked', retryable: true })
  await expect(taken).rejects.toThrow(`id ${program.child.pid}`)
  expect(isTaken).toBe(false)
  program.child.kill('SIGCONT')
  const next = take(path)
  program.child.stdin.end('go\n')
  await next
  expect(await program.end()).toBe(0)
})

test('whoever waits for a lock can give up, and leaves nothing behind', async () => {
  const path = newFolder()
  const program = startProgram('hold', path)
  expect(await program.line()).toBe('held')
  const leaving = new AbortController()
  const run = vi.fn<() => Promise<string>>(async () => 'taken')
  const waiting = withLock(path, 'a', run, { ...LOCK_TIMES, signal: leaving.signal })
  await expect.poll(() => readdirSync(path)).toHaveLength(2)
  leaving.abort(new Error('nobody waits'))
  await expect(waiting).rejects.toThrow('nobody waits')
  await expect(withLock(path, 'a', run, { ...LOCK_TIMES, signal: leaving.signal })).rejects.toThrow(
    'nobody waits',
  )
  expect(readdirSync(path)).toEqual(['a'])
  expect(run).not.toHaveBeenCalled()
})

test('a lock that is held is not given up', async () => {
  const leaving = new AbortController()
  const result = withLock(
    newFolder(),
    'a',
    async () => {
      leaving.abort()
      return 'done'
    },
    { ...LOCK_TIMES, signal: leaving.signal },
  )
  expect(await result).toBe('done')
})

test('a process with the id of a killed one does not keep its lock', async () => {
  const path = newFolder()
  const program = startProgram('hold', newFolder())
  expect(await program.line()).toBe('held')
  const { place } = readOwner(await createOwner())!
  pretend(path, `${program.child.pid}.1.${place}.${'0'.repeat(36)}`)
  expect(await take(path)).toBeLessThan(5000)
})

test('a process elsewhere keeps its lock while it touches the file, and loses it afterwards', async () => {
  const path = newFolder()
  const file = pretend(path, FOREIGN)
  let beats = 0
  const beat = setInterval(() => utimesSync(file, new Date(), new Date(1_000_000 + 1000 * ++beats)), 20)
  onTestFinished(() => clearInterval(beat))
  const times = { ...LOCK_TIMES, silence: 1500 }
  const waiting = take(path, { ...times, patience: 3000 })
  await expect(waiting).rejects.toMatchObject({ kind: 'vault_locked' })
  expect(beats).toBeGreaterThan(10)
  clearInterval(beat)
  expect(await take(path, times)).toBeGreaterThan(1400)
})

test('the owner of a lock touches its file', async () => {
  const path = newFolder()
  await withLock(
    path,
    'a',
    async () => {
      const file = join(path, 'a', readdirSync(join(path, 'a'))[0] as string)
      const first = statSync(file).mtimeMs
      await expect.poll(() => statSync(file).mtimeMs).toBeGreaterThan(first)
    },
    { ...LOCK_TIMES, beat: 10 },
  )
})

test('a lock that a network file system still shows is treated as one of an owner elsewhere', async () => {
  const path = newFolder()
  pretend(path, '.nfs0001')
  expect(await take(path, { ...TIMES, silence: 100 })).toBeGreaterThan(90)
})

test('a thread of this process that ended loses its lock, though the process goes on', async () => {
  const path = newFolder()
  pretend(path, await createOwner())
  expect(await take(path, { ...TIMES, silence: 100 })).toBeGreaterThan(90)
})

test('folders that killed processes prepared are removed, those of others stay', async () => {
  const path = newFolder()
  const { place } = readOwner(await createOwner())!
  const dead = `a~999999999.1.${place}.${'0'.repeat(36)}`
  const foreign = `a~${FOREIGN}`
  const old = `b~${FOREIGN}`
  for (const name of [dead, foreign, old, 'mine~x']) mkdirSync(join(path, name))
  utimesSync(join(path, old), new Date(0), new Date(0))
  await take(path)
  expect(readdirSync(path).toSorted()).toEqual([foreign, 'mine~x'])
})

test('a lock makes its folder', async () => {
  const path = join(newFolder(), 'not', 'yet', 'there')
  expect(await take(path)).toBeLessThan(5000)
})

test('a lock in a folder that cannot exist is an error', async () => {
  const path = newFolder()
  writeFileSync(join(path, 'file'), '')
  await expect(take(join(path, 'file'))).rejects.toMatchObject({
    code: expect.stringMatching(/ENOTDIR|EEXIST/),
  })
  writeFileSync(join(path, 'a'), '')
  await expect(take(path)).rejects.toMatchObject({ code: 'ENOTDIR' })
})

test('the start of a process is read from the files and programs of its system', async () => {
  const own = readOwner(await createOwner())!
  expect(own).toMatchObject({ pid: process.pid, started: expect.stringMatching(/^\d+$/) as unknown })
  expect(startInProc(`7 (a) Z b) S ${'1 '.repeat(18)}4711 0 0`)).toBe('4711')
  expect(startInProc(`7 (a) Z ${'1 '.repeat(18)}4711 0 0`)).toBe('ended')
  expect(startInProc(undefined)).toBe('')
  const shown = startInPs(await askPs(process.pid))
  expect(Math.abs(Number(shown) - (Date.now() - process.uptime() * 1000))).toBeLessThan(10_000)
  expect(startInPs('Z    Tue Nov 17 05:00:00 2026\n')).toBe('ended')
  expect(startInPs('Ss   Tue Nov 17 05:00:00 2026\n')).toBe(String(Date.UTC(2026, 10, 17, 5)))
  expect(startInPs(await askPs(999_999_999))).toBe('')
})

test('an owner elsewhere, in this process and without a known start is not judged by its id', async () => {
  const own = readOwner(await createOwner())!
  expect(await isRunning({ ...own, place: '0'.repeat(16) })).toBeUndefined()
  expect(await isRunning(own)).toBeUndefined()
  expect(await isRunning({ ...own, pid: 1, started: '' })).toBeUndefined()
  expect(await isRunning({ ...own, pid: 999_999_999 })).toBe(false)
  expect(readOwner('x')).toBeUndefined()
})

test('a folder of locks that is a link, or that others can change, is refused, and nothing in it is removed', async () => {
  const victim = newFolder()
  const file = pretend(victim, 'thesis.txt')
  const dead = join(victim, `a~999999999.1.${readOwner(await createOwner())!.place}.${'0'.repeat(36)}`)
  mkdirSync(dead)
  const link = join(newFolder(), 'locks')
  symlinkSync(victim, link)
  const times = { ...TIMES, silence: 1 }
  await expect(take(link, times)).rejects.toMatchObject({
    kind: 'vault_unsafe',
    message: expect.stringContaining('symbolic link'),
  })
  chmodSync(victim, 0o777)
  await expect(take(victim, times)).rejects.toMatchObject({ kind: 'vault_unsafe' })
  expect([existsSync(file), existsSync(dead)]).toEqual([true, true])
})

test('files that are not of a lock are never removed', async () => {
  const path = newFolder()
  const file = pretend(path, 'thesis.txt')
  const { place } = readOwner(await createOwner())!
  const dead = `999999999.1.${place}.${'0'.repeat(36)}`
  mkdirSync(join(path, `b~${dead}`))
  writeFileSync(join(path, `b~${dead}`, 'thesis.txt'), '')
  writeFileSync(join(path, 'a', dead), '')
  await expect(take(path, { ...TIMES, silence: 1 })).rejects.toMatchObject({
    kind: 'vault_unsafe',
    message: expect.stringContaining('"thesis.txt"'),
  })
  expect(readdirSync(join(path, 'a'))).toEqual(['thesis.txt'])
  expect(existsSync(file)).toBe(true)
  expect(readdirSync(join(path, `b~${dead}`))).toEqual(['thesis.txt'])
})
