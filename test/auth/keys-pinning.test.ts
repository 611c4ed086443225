import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createKeys, pinKey } from '../../src/auth.ts'
import { ownerName, withLock } from '../../src/keys/lock.ts'

const root = mkdtempSync(join(tmpdir(), 'pierhead-pinning-'))
afterAll(() => rmSync(root, { recursive: true }))
const newFolder = (): string => mkdtempSync(join(root, 'keys-'))

test('processes that pin keys at the same time lose none', async () => {
  const folder = newFolder()
  const program = join(import.meta.dirname, 'keys-pinning.ts')
  const names = ['a', 'b', 'c']
  const children = names.map((name) =>
    fork(program, [folder, name, '15'], { execArgv: ['--import', 'tsx', '--conditions=pierhead-source'] }),
  )
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as number))
  expect(codes).toEqual([0, 0, 0])
  const pinned = JSON.parse(readFileSync(join(folder, 'allowed.json'), 'utf8')) as { readonly sub: string }[]
  const expected = names.flatMap((name) => Array.from({ length: 15 }, (_, number) => `${name}-${number}`))
  expect(pinned.map(({ sub }) => sub).toSorted()).toEqual(expected.toSorted())
  expect(readdirSync(folder).filter((name) => !name.endsWith('.pem'))).toEqual(['allowed.json'])
})

/** A lock whose owner has this name. */
function held(owner: string): { readonly folder: string; readonly lock: string } {
  const folder = newFolder()
  const lock = join(folder, 'allowed.json.lock')
  mkdirSync(lock)
  writeFileSync(join(lock, owner), '')
  return { folder, lock }
}

test('the lock of a process that was killed does not count', async () => {
  const child = spawn(process.execPath, ['--eval', ''])
  await once(child, 'exit')
  const { folder, lock } = held(ownerName(child.pid as number))
  pinKey(join(folder, 'allowed.json'), { key: createKeys(join(folder, 'key.pem')).publicKey })
  expect(existsSync(lock)).toBe(false)
})

test('the lock of an owner that cannot be examined ends after a while, and one that runs is waited for', () => {
  const { lock } = held(ownerName(process.pid))
  let waited = 0
  const pause = (ms: number): void => void (waited += ms)
  expect(withLock(lock, () => 'done', pause)).toBe('done')
  expect(waited).toBeGreaterThanOrEqual(10_000)
  expect(existsSync(lock)).toBe(false)
})

test('whoever lost the lock does not write', () => {
  const lock = join(newFolder(), 'lock')
  const lose = (isHeld: () => boolean): boolean => {
    rmSync(lock, { recursive: true })
    return isHeld()
  }
  expect(withLock(lock, lose)).toBe(false)
})

test('a lock is released if its holder throws, and a folder with something else is no lock', () => {
  const folder = newFolder()
  const lock = join(folder, 'lock')
  expect(() =>
    withLock(lock, () => {
      throw new Error('no')
    }),
  ).toThrow('no')
  expect(readdirSync(folder)).toEqual([])
  mkdirSync(lock)
  writeFileSync(join(lock, 'mine.txt'), '')
  expect(() =>
    withLock(
      lock,
      () => 'done',
      () => undefined,
    ),
  ).toThrow('"mine.txt", which is not part of a lock')
  expect(readdirSync(lock)).toEqual(['mine.txt'])
})
