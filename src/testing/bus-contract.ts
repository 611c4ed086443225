import type { BusMessage, ChangeBus } from '../rpc/change-bus.ts'
import { assertSame, type ContractCheck } from './contract.ts'
import { ODD_TEXTS } from './odd-texts.ts'
import { storeChecks, type StoreChecks, type StoreContractOptions } from './store-contract.ts'

/** One who subscribed, with all that arrived. */
interface Subscriber {
  readonly got: (BusMessage | 'gap')[]
  stop(): void
}

async function subscriber(bus: ChangeBus, after: number): Promise<Subscriber> {
  const got: (BusMessage | 'gap')[] = []
  const stop = await bus.subscribe(
    after,
    (message) => void got.push(message),
    () => void got.push('gap'),
  )
  return { got, stop }
}

/** Publishes texts one after the other, and answers them as messages. */
async function published(bus: ChangeBus, texts: readonly string[]): Promise<readonly BusMessage[]> {
  const messages: BusMessage[] = []
  for (const text of texts) messages.push({ position: await bus.publish(text), text })
  return messages
}

const CHECKS: StoreChecks<ChangeBus> = {
  async 'positions begin with 1, and grow by 1'({ store, other }) {
    assertSame(await store.position(), 0, 'the position before the first message')
    const positions = [await store.publish('a'), await other.publish('b'), await store.publish('c')]
    assertSame(positions, [1, 2, 3], 'publish answers')
    assertSame(await other.position(), 3, 'the position')
  },

  async 'every text is kept as it is'({ store, other, eventually }) {
    const { got, stop } = await subscriber(other, 0)
    const messages = await published(store, ['', ...ODD_TEXTS])
    await eventually('all messages', () => got.length >= messages.length)
    stop()
    assertSame(got, messages, 'the messages')
    assertSame(await other.read(0, 100), messages, 'read answers')
  },

  async 'all nodes get all messages, in the same order'({ store, other, eventually }) {
    const nodes = [await subscriber(store, 0), await subscriber(other, 0), await subscriber(store, 0)]
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => (index % 2 === 0 ? store : other).publish(`${index}`)),
    )
    await eventually('all messages', () => nodes.every(({ got }) => got.length >= 50))
    for (const { stop } of nodes) stop()
    const expected = await store.read(0, 100)
    for (const { got } of nodes) assertSame(got, expected, 'the messages')
    assertSame(
      expected?.map(({ position }) => position),
      Array.from({ length: 50 }, (_, index) => index + 1),
      'the positions',
    )
  },

  async 'a node gets the messages after a position, old and new'({ store, other, eventually }) {
    const messages = [...(await published(store, ['a', 'b', 'c']))]
    const { got, stop } = await subscriber(other, 1)
    await eventually('the old messages', () => got.length >= 2)
    messages.push(...(await published(store, ['d', 'e'])))
    await eventually('the new messages', () => got.length >= 4)
    stop()
    assertSame(got, messages.slice(1), 'the messages')
  },

  async 'many old messages arrive in order'({ store, other, eventually }) {
    await Promise.all(Array.from({ length: 500 }, async (_, index) => store.publish(`${index}`)))
    const { got, stop } = await subscriber(other, 0)
    await eventually('all messages', () => got.length >= 500)
    stop()
    assertSame(got, await store.read(0, 1000), 'the messages')
  },

  async 'messages are read page by page'({ store, other }) {
    const messages = await published(store, ['a', 'b', 'c'])
    assertSame(await other.read(0, 2), messages.slice(0, 2), 'the first page')
    assertSame(await other.read(2, 2), messages.slice(2), 'the second page')
    assertSame(await other.read(3, 2), [], 'the page after the newest')
  },

  async 'a position that the bus never had is a gap'({ store, eventually }) {
    await published(store, ['a'])
    assertSame(await store.read(500, 9), undefined, 'read answers')
    const { got, stop } = await subscriber(store, 500)
    await eventually('a gap', () => got.length >= 1)
    const [message] = await published(store, ['b'])
    await eventually('the message after the gap', () => got.length >= 2)
    stop()
    assertSame(got, ['gap', message], 'what arrived')
  },

  async 'a subscriber that was stopped gets nothing'({ store, eventually }) {
    const [stopped, left] = [await subscriber(store, 0), await subscriber(store, 0)]
    await store.publish('a')
    await eventually('a message', () => stopped.got.length === 1 && left.got.length === 1)
    stopped.stop()
    stopped.stop()
    await store.publish('b')
    await eventually('a message for the other', () => left.got.length === 2)
    left.stop()
    assertSame(stopped.got.length, 1, 'messages of the subscriber that was stopped')
    const late = await subscriber(store, 1)
    await eventually('a message for a later one', () => late.got.length === 1)
    late.stop()
  },

  async 'a node may publish when it gets a message'({ store, eventually }) {
    const got: string[] = []
    const stop = await store.subscribe(
      0,
      ({ text }) => {
        got.push(text)
        if (text === 'question') void store.publish('answer')
      },
      () => {},
    )
    await store.publish('question')
    await eventually('the answer', () => got.length >= 2)
    stop()
    assertSame(got, ['question', 'answer'], 'the messages')
  },
}

/**
 * The checks that every bus must pass, for any test runner.
 *
 * @example
 * for (const { name, run } of changeBusContract({ open: () => memory() })) test(name, run)
 */
export function changeBusContract(options: StoreContractOptions): readonly ContractCheck[] {
  return storeChecks('changes', options, CHECKS)
}
