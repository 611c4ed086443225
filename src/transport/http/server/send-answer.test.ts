import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Forwarded } from '../../../nodes/forwarded.ts'
import type { NodeMessage } from '../../../nodes/messages.ts'
import type { Node } from '../../../nodes/node.ts'
import { Offers } from '../../../nodes/offers.ts'
import { StoredBytes } from '../../io/stored-bytes.ts'
import { answerTaken, sendAnswer, type AnswerParts } from './send-answer.ts'

const ID = 7_000_000_001
const LONG = { jsonrpc: '2.0', id: ID, result: { text: 'y'.repeat(100_000) } } as const

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

interface Sender {
  readonly parts: AnswerParts
  readonly told: NodeMessage[]
  readonly cached: string[]
  send(): Promise<void>
}

/** A node beside which number 7 is alive or not, and replies to offers or not. */
function sender(isAlive: boolean, isOpen?: boolean): Sender {
  const told: NodeMessage[] = []
  const cached: string[] = []
  const node = {
    forwarded: new Forwarded(),
    mayHaveAsked: () => false,
    stores: { nodes: { isAlive: () => isAlive }, cache: { set: (key: string) => void cached.push(key) } },
    publish: async (message: NodeMessage) => {
      told.push(message)
      if (message.kind === 'offered' && isOpen !== undefined)
        offers.onMessage({ kind: 'wanted', session: 's', id: message.id, isOpen })
    },
  }
  const offers = new Offers(node as unknown as Node, [])
  const parts: AnswerParts = {
    node: Object.assign(node, { offers }) as unknown as Node,
    forwarded: new StoredBytes({ heldBytes: 1_000_000 }),
    strays: new StoredBytes({ heldBytes: 250_000 }),
  }
  return { parts, told, cached, send: () => sendAnswer(parts, { id: 's', countedFor: 'ann' }, LONG) }
}

test('a long answer counts until the node that asked has it', async () => {
  const { parts, told, cached, send } = sender(true, true)
  await send()
  expect(told.map(({ kind }) => kind)).toEqual(['offered', 'answered'])
  expect(parts.forwarded.bytes).toBeGreaterThan(100_000)
  answerTaken(parts, cached[0] as string)
  expect(parts.forwarded.bytes).toBe(0)
})

test('one that the node does not wait for is not stored', async () => {
  const { parts, cached, send } = sender(true, false)
  await send()
  expect(cached).toEqual([])
  expect(parts.forwarded.bytes).toBe(0)
})

test('one to a node that lives and does not reply is stored, and the next ones leave most room to others', async () => {
  const { parts, cached, send } = sender(true)
  for (const sum of [
    [1, 0],
    [1, 1],
  ]) {
    const sending = send()
    await vi.advanceTimersByTimeAsync(5000)
    await sending
    expect([parts.forwarded, parts.strays].map(({ bytes }) => Math.floor(bytes / 100_000))).toEqual(sum)
  }
  expect(cached).toHaveLength(2)
  parts.node.offers.onMessage({ kind: 'wanted', session: 's', id: ID, isOpen: false })
  expect(await parts.node.offers.standing(ID)).toBe('replies')
})

test('one to a node that does not live waits a while for a reply, is not stored, and leaves most room to others', async () => {
  const { parts, cached, send } = sender(false)
  const sending = send()
  await vi.advanceTimersByTimeAsync(4000)
  expect([parts.forwarded.bytes, parts.strays.bytes > 100_000]).toEqual([0, true])
  await vi.advanceTimersByTimeAsync(1000)
  await sending
  expect([cached, parts.strays.bytes]).toEqual([[], 0])
})

test('one to a node that has joined again with another number is stored', async () => {
  const { cached, send } = sender(false, true)
  await send()
  expect(cached).toHaveLength(1)
})

test('one offer asks for all answers to a question', async () => {
  const { parts, told, send } = sender(true)
  const sending = [send(), send(), send()]
  await vi.advanceTimersByTimeAsync(100)
  expect(told).toHaveLength(1)
  parts.node.offers.onMessage({ kind: 'wanted', session: 's', id: ID, isOpen: false })
  await Promise.all(sending)
  expect(parts.forwarded.bytes).toBe(0)
})
