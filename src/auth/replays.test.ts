import { expect, test } from 'vitest'
import { createReplays, type UsedProof } from './replays.ts'

const proof = (account: string, key: string, id: number): UsedProof => ({ account, key, id: String(id) })

test('a proof is accepted once for each key', () => {
  const replays = createReplays(1000)
  expect(replays.add(proof('ann', 'one', 1))).toBeUndefined()
  expect(replays.add(proof('ann', 'one', 1))).toHaveProperty('rejected', 'proof')
  expect(replays.add(proof('ann', 'two', 1))).toBeUndefined()
})

test('an account with many keys takes one share of the room, and only its own proofs are refused', () => {
  const replays = createReplays(1000, 1000)
  const accepted = { eve: 0, others: 0 }
  for (let key = 0; key < 50; key++)
    for (let id = 0; id < 300; id++)
      if (replays.add(proof('eve', `eve-${key}`, id)) === undefined) accepted.eve++
  expect(replays.add(proof('eve', 'eve-51', 1))).toHaveProperty('rejected', 'unavailable')
  for (let nth = 0; nth < 200; nth++)
    if (replays.add(proof(`user-${nth}`, `key-${nth}`, 1)) === undefined) accepted.others++
  expect(accepted).toEqual({ eve: 250, others: 200 })
})
