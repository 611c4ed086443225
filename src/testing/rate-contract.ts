import type { RateStore } from '../rpc/rate-store.ts'
import { assertSame, type ContractCheck } from './contract.ts'
import { ODD_TEXTS } from './odd-texts.ts'
import { LONG_MS, storeChecks, type StoreChecks, type StoreContractOptions } from './store-contract.ts'

const CHECKS: StoreChecks<RateStore> = {
  async 'requests up to the limit are within it, for all nodes together'({ store, other }) {
    const uses: unknown[] = []
    for (const one of [store, other, store, other, store]) {
      const { isWithin, remaining } = await one.use('a', 3, LONG_MS)
      uses.push([isWithin, remaining])
    }
    assertSame(
      uses,
      [
        [true, 2],
        [true, 1],
        [true, 0],
        [false, 0],
        [false, 0],
      ],
      'use answers',
    )
  },

  async 'each key is counted by itself'({ store }) {
    for (const key of ['a', 'b', '{a}', '', ...ODD_TEXTS]) {
      const { isWithin, remaining } = await store.use(key, 1, LONG_MS)
      assertSame([isWithin, remaining], [true, 0], 'use answers for the first request of a key')
    }
  },

  async 'a request may count for more than one'({ store, other }) {
    assertSame((await store.use('a', 10, LONG_MS, 4)).remaining, 6, 'what remains')
    const large = await other.use('a', 10, LONG_MS, 7)
    assertSame([large.isWithin, large.remaining], [false, 6], 'use answers for a cost above what remains')
    const fit = await store.use('a', 10, LONG_MS, 6)
    assertSame([fit.isWithin, fit.remaining], [true, 0], 'use answers for a cost that fits')
  },

  async 'the answer says when the window ends'({ store, other }) {
    const first = await store.use('a', 1, LONG_MS)
    const second = await other.use('a', 1, 2 * LONG_MS)
    for (const { resetMs } of [first, second])
      assertSame(
        resetMs > LONG_MS / 2 && resetMs <= LONG_MS,
        true,
        `whether ${resetMs} ms is within the window`,
      )
  },

  async 'a new window begins when the last one is over'({ store, eventually }) {
    await store.use('a', 1, 1)
    await eventually('a new window', async () => (await store.use('a', 1, 1)).isWithin)
  },

  async 'requests at the same time are all counted'({ store, other }) {
    const uses = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => (index % 2 === 0 ? store : other).use('a', 25, LONG_MS)),
    )
    assertSame(uses.filter(({ isWithin }) => isWithin).length, 25, 'the number of requests within the limit')
  },
}

/**
 * The checks that every store of rates must pass, for any test runner.
 *
 * @example
 * for (const { name, run } of rateStoreContract({ open: () => memory() })) test(name, run)
 */
export function rateStoreContract(options: StoreContractOptions): readonly ContractCheck[] {
  return storeChecks('rates', options, CHECKS)
}
