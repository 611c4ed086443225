import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Deferred } from '../../src/base/deferred.ts'
import { VaultFile } from '../../src/auth/client/vault-files.ts'
import * as lock from '../../src/auth/client/vault-lock.ts'
import { folder } from './vault-child.ts'

const LOGIN = { tokens: { accessToken: 'access', type: 'bearer' } } as const
const KEYS = Array.from({ length: 100 }, (_, at) => `login ${at}`)

/** A vault that counts how often its file is read and written. */
function countingVault(): { vault: VaultFile; counts: { reads: number; writes: number }; path: string } {
  const path = join(mkdtempSync(join(folder, 'together-')), 'credentials.json')
  const counts = { reads: 0, writes: 0 }
  const cipher = {
    encrypt: (text: string): string => (counts.writes++, text),
    decrypt: (text: string): string => (counts.reads++, text),
  }
  return { vault: new VaultFile(path, undefined, cipher), counts, path }
}

/** Changes all entries in such a way that all changes are ready at the same time. */
function changeAll(vault: VaultFile, change: (key: string) => typeof LOGIN | undefined): Promise<unknown> {
  const ready = new Deferred<void>()
  let count = 0
  const updates = KEYS.map((key) =>
    vault.update(key, async () => {
      if (++count === KEYS.length) ready.resolve()
      await ready.promise
      return change(key)
    }),
  )
  return Promise.all(updates)
}

test('changes of many entries at the same time are written together', async () => {
  const { vault, counts } = countingVault()
  await changeAll(vault, () => LOGIN)
  expect((await vault.keys()).toSorted()).toEqual(KEYS.toSorted())
  // The first may be on its way before the others are ready. There were 100.
  expect(counts.writes).toBeLessThanOrEqual(2)
  counts.writes = 0
  await changeAll(vault, (key) => (key === 'login 7' ? LOGIN : undefined))
  expect(await vault.keys()).toEqual(['login 7'])
  expect(counts.writes).toBeLessThanOrEqual(2)
})

test('those who ask while the file is read share the next reading, which sees all that was written before', async () => {
  const { vault, counts } = countingVault()
  await changeAll(vault, () => LOGIN)
  counts.reads = 0
  const first = vault.keys()
  await Promise.resolve()
  await Promise.resolve()
  const later: Promise<unknown>[] = []
  for (let nth = 0; nth < 50; nth++) {
    later.push(vault.read('login 1'))
    await Promise.resolve()
  }
  expect(await Promise.all(later)).toEqual(later.map(() => LOGIN))
  expect(await first).toHaveLength(100)
  expect(counts.reads).toBe(2)
})

test('changes whose writing fails fail alone: later ones are written', async () => {
  const { vault } = countingVault()
  const { withLock } = lock
  let isBroken = true
  const spy = vi.spyOn(lock, 'withLock').mockImplementation((where, name, ...rest) => {
    if (name !== 'write' || !isBroken) return withLock(where, name, ...rest)
    isBroken = false
    return Promise.reject(new Error('no room'))
  })
  onTestFinished(() => spy.mockRestore())
  await expect(vault.update('a', () => Promise.resolve(LOGIN))).rejects.toMatchObject({
    kind: 'vault_failed',
  })
  await vault.update('b', () => Promise.resolve(LOGIN))
  expect(await vault.keys()).toEqual(['b'])
})
