import type { NodeInfo, NodeStore } from '../rpc/node-store.ts'
import { assertSame, type ContractCheck } from './contract.ts'
import { ODD_TEXTS } from './odd-texts.ts'
import { LONG_MS, storeChecks, type StoreChecks, type StoreContractOptions } from './store-contract.ts'

const FILMS: Omit<NodeInfo, 'number'> = { server: 'films', inMemory: [] }

const CHECKS: StoreChecks<NodeStore> = {
  async 'each node has a number of its own'({ store, other }) {
    const joined = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => (index % 2 === 0 ? store : other).join(FILMS, LONG_MS)),
    )
    const numbers = joined.map(({ number }) => number)
    assertSame(new Set(numbers).size, 20, 'the number of different numbers')
    assertSame(
      numbers.every((one) => Number.isInteger(one) && one >= 1 && one <= 2_000_000),
      true,
      'the range',
    )
  },

  async 'a number is not used again after its node left'({ store }) {
    const first = await store.join(FILMS, LONG_MS)
    await store.leave(first.number)
    const second = await store.join(FILMS, LONG_MS)
    assertSame(second.number === first.number, false, 'whether two nodes have the same number')
  },

  async 'a node sees the living nodes of its server'({ store, other }) {
    const first = await store.join({ ...FILMS, inMemory: ['rates', 'cache'] }, LONG_MS)
    await store.join({ server: 'music', inMemory: [] }, LONG_MS)
    const second = await other.join(FILMS, LONG_MS)
    const info = { number: first.number, server: 'films', inMemory: ['rates', 'cache'] }
    assertSame([first.others, second.others], [[], [info]], 'the others')
    await other.leave(first.number)
    const third = await store.join(FILMS, LONG_MS)
    assertSame(third.others, [{ ...FILMS, number: second.number }], 'the others after one has left')
  },

  async 'a node is alive until it leaves'({ store, other }) {
    const { number } = await store.join(FILMS, LONG_MS)
    assertSame(
      [await other.isAlive(number), await other.isAlive(number + 1)],
      [true, false],
      'isAlive answers',
    )
    assertSame(await store.beat(number, LONG_MS), true, 'beat answers')
    await store.leave(number)
    assertSame(
      [await other.isAlive(number), await store.beat(number, LONG_MS)],
      [false, false],
      'the answers for one that left',
    )
    await store.leave(number)
  },

  async 'a node that is silent is dead until its next sign of life'({ store, other, eventually }) {
    const { number } = await store.join(FILMS, 1)
    await eventually('the death of a node', async () => !(await other.isAlive(number)))
    const { others, ...second } = await other.join(FILMS, LONG_MS)
    assertSame(others, [], 'the others')
    assertSame(await store.beat(number, LONG_MS), false, 'beat answers')
    assertSame(await other.isAlive(number), true, 'isAlive answers after the sign of life')
    assertSame(await store.beat(number, LONG_MS), true, 'the next beat answers')
    const seen = (await other.join(FILMS, LONG_MS)).others.map((one) => one.number)
    assertSame(seen, [number, second.number], 'the others after the sign of life')
  },

  async 'a sign of life counts from then on'({ store, other, eventually }) {
    const { number } = await store.join(FILMS, LONG_MS)
    assertSame(await store.beat(number, 1), true, 'beat answers')
    await eventually('the death of a node', async () => !(await other.isAlive(number)))
  },

  async 'all nodes of a server get the same secret'({ store, other }) {
    const secrets = await Promise.all(
      ['one', 'two', 'three'].map(async (proposed, index) =>
        (index === 1 ? other : store).secret('films', proposed),
      ),
    )
    assertSame(new Set(secrets).size, 1, 'the number of different secrets')
    assertSame(['one', 'two', 'three'].includes(secrets[0] ?? ''), true, 'whether it was proposed')
    assertSame(await other.secret('music', 'four'), 'four', 'the secret of another server')
  },

  async 'every text is kept as it is'({ store, other }) {
    for (const text of ODD_TEXTS) {
      const { number } = await store.join({ server: text, inMemory: [text] }, LONG_MS)
      const { others } = await other.join({ server: text, inMemory: [] }, LONG_MS)
      assertSame(others, [{ number, server: text, inMemory: [text] }], 'the others')
      assertSame([await store.secret(text, text), await other.secret(text, 'x')], [text, text], 'the secret')
    }
  },
}

/**
 * The checks that every registry of nodes must pass, for any test runner.
 *
 * @example
 * for (const { name, run } of nodeStoreContract({ open: () => redis(url), shared: true })) test(name, run)
 */
export function nodeStoreContract(options: StoreContractOptions): readonly ContractCheck[] {
  return storeChecks('nodes', options, CHECKS)
}
