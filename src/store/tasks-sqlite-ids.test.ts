import { createDecipheriv, type Decipher } from 'node:crypto'
import { expect, test } from 'vitest'
import { blockwise, TaskIds } from './tasks-sqlite-ids.ts'

const KEY = '0123456789abcdef'.repeat(2)

function idsOf(key: string): TaskIds {
  return TaskIds.of(key) as TaskIds
}

test('an id is stored with its time first, and shown without it', () => {
  const before = Date.now()
  const ids = idsOf(KEY)
  const made = Array.from({ length: 200 }, () => ids.next())
  const after = Date.now()
  for (const id of made) {
    const stored = ids.stored(id)
    const time = Number.parseInt(stored.slice(1, 13), 16)
    expect(time).toBeGreaterThanOrEqual(before)
    expect(time).toBeLessThanOrEqual(after)
    expect(id).not.toContain(stored.slice(1, 13))
    expect(ids.shown(stored)).toBe(id)
  }
  expect(new Set(made).size).toBe(200)
})

test('another process with the same key reads the same id, also one that nobody remembers', () => {
  const [ids, other] = [idsOf(KEY), idsOf(KEY)]
  const id = ids.next()
  const stored = ids.stored(id)
  expect(other.stored(id)).toBe(stored)
  for (let count = 0; count < 3000; count++) ids.next()
  expect(ids.stored(id)).toBe(stored)
  expect(ids.shown(stored)).toBe(id)
})

test('with another key, an id is another one', () => {
  const id = idsOf(KEY).next()
  expect(idsOf('f'.repeat(32)).stored(id)).not.toBe(idsOf(KEY).stored(id))
})

test.each([
  'a',
  '',
  'A'.repeat(24),
  // The last character has bits that a block does not have: nothing else may stand for the same task.
  'AAAAAAAAAAAAAAAAAAAAAB',
  'AAAAAAAAAAAAAAAAAAAAA=',
  'AAAAAAAAAAAAAAAAAAAAAA\n',
  '0123456789abcdef'.repeat(2),
  'ä'.repeat(22),
])('the id %j is stored as it is', (id) => {
  const ids = idsOf(KEY)
  expect(ids.stored(id)).toBe(id)
  expect(ids.shown(id)).toBe(id)
})

test('an id that looks like a stored one is not taken for it', () => {
  const ids = idsOf(KEY)
  const stored = ids.stored(ids.next())
  expect(ids.stored(stored)).toBe(`\u0001${JSON.stringify(stored)}`)
  expect(ids.shown(ids.stored(stored))).toBe(ids.stored(stored))
})

test.each([undefined, null, 5, '', KEY.slice(1), `${KEY}0`, KEY.toUpperCase(), 'g'.repeat(32)])(
  '%j is not a key',
  (key) => expect(TaskIds.of(key)).toBeUndefined(),
)

test('a cipher that keeps the last block back until the end gives the same blocks', () => {
  const make = (isPadded: boolean) => (): Decipher =>
    createDecipheriv('aes-128-ecb', Buffer.from(KEY, 'hex'), null).setAutoPadding(isPadded)
  const [atOnce, atEnd] = [blockwise(make(false)), blockwise(() => heldBack(make(false)()))]
  // With padding, a decipher cannot know whether a block is the last.
  expect(make(true)().update(Buffer.alloc(16))).toHaveLength(0)
  for (const text of ['a'.repeat(16), 'b'.repeat(16)])
    expect(atEnd(Buffer.from(text))).toEqual(atOnce(Buffer.from(text)))
})

/** A decipher that answers everything at its end. */
function heldBack(decipher: Decipher): Pick<Decipher, 'update' | 'final'> {
  const parts: Buffer[] = []
  const update = (block: Buffer): Buffer => {
    parts.push(decipher.update(block))
    return Buffer.alloc(0)
  }
  return { update, final: () => Buffer.concat([...parts, decipher.final()]) } as Pick<
    Decipher,
    'update' | 'final'
  >
}
