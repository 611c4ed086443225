import type { CacheStore } from '../rpc/cache-store.ts'
import { assertSame, type ContractCheck } from './contract.ts'
import { ODD_TEXTS } from './odd-texts.ts'
import { LONG_MS, storeChecks, type StoreChecks, type StoreContractOptions } from './store-contract.ts'

const CHECKS: StoreChecks<CacheStore> = {
  async 'a text is read as it was set, also by other nodes'({ store, other }) {
    await store.set('a', '1', LONG_MS)
    assertSame([await store.get('a'), await other.get('a')], ['1', '1'], 'get answers')
    await other.set('a', '', LONG_MS)
    assertSame(await store.get('a'), '', 'get answers after another text')
    assertSame(await store.get('b'), undefined, 'get answers for another key')
  },

  async 'every text and every key is kept as it is'({ store, other }) {
    for (const text of ODD_TEXTS) await store.set(text, text, LONG_MS)
    for (const text of ODD_TEXTS) assertSame(await other.get(text), text, 'get answers')
    for (const key of ['{a}', 'a}b', '{}', '']) {
      assertSame(await store.add(key, key, LONG_MS), true, `add(${key}) answers`)
      assertSame(await other.get(key), key, `get(${key}) answers`)
    }
  },

  async 'of all nodes that add a text, one succeeds'({ store, other }) {
    const added = await Promise.all(
      Array.from({ length: 20 }, async (_, index) =>
        (index % 2 === 0 ? store : other).add('a', `${index}`, LONG_MS),
      ),
    )
    assertSame(added.filter(Boolean).length, 1, 'the number of those that succeeded')
    assertSame(await store.get('a'), `${added.indexOf(true)}`, 'get answers')
  },

  async 'a text that was removed can be added again'({ store, other }) {
    await store.add('a', '1', LONG_MS)
    await other.delete('a')
    await other.delete('a')
    assertSame(await store.get('a'), undefined, 'get answers')
    assertSame(await store.add('a', '2', LONG_MS), true, 'add answers')
    assertSame(await other.get('a'), '2', 'get answers after adding')
  },

  async 'texts vanish when their time is over'({ store, other, eventually }) {
    await store.set('a', '1', 1)
    await store.add('b', '1', 1)
    await store.set('c', '1', LONG_MS)
    await eventually('the end of a text that was set', async () => (await other.get('a')) === undefined)
    await eventually('the end of a text that was added', async () => store.add('b', '2', LONG_MS))
    assertSame([await store.get('b'), await store.get('c')], ['2', '1'], 'get answers for the others')
  },

  async 'setting a text again gives it a new time'({ store, eventually }) {
    await store.set('a', '1', LONG_MS)
    await store.set('a', '2', 1)
    await eventually('the end of the text', async () => (await store.get('a')) === undefined)
  },
}

/**
 * The checks that every cache must pass, for any test runner.
 *
 * @example
 * for (const { name, run } of cacheStoreContract({ open: () => memory() })) test(name, run)
 */
export function cacheStoreContract(options: StoreContractOptions): readonly ContractCheck[] {
  return storeChecks('cache', options, CHECKS)
}
