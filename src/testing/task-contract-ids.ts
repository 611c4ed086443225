import { addTasks, assertSame, type Checks } from './contract.ts'

const SAMPLED = 10_000
/** The least that an id must have, in bits, without what the sample leaves open. */
const LEAST_BITS = 121.9
/** So many standard deviations are no accident. */
const DEVIATIONS = 7

/** What ids that a store makes promise. Stores that make none keep all of it. */
export const TASK_IDS: Checks = {
  async 'ids that the store makes are hard to guess, and show no order'({ store }) {
    if (store.newId === undefined) return
    const ids = Array.from({ length: SAMPLED }, () => store.newId?.() ?? '')
    assertSame(new Set(ids).size, SAMPLED, 'the number of different ids')
    assertSame(
      ids.find((id) => !/^[\w-]{21,64}$/.test(id)),
      undefined,
      'an id that has fewer than 21 or more than 64 characters, or is not safe in URLs',
    )
    let bits = 0
    for (let place = 0; place < Math.max(...ids.map(({ length }) => length)); place++) {
      const { entropy, isRegular } = readPlace(ids.map((id) => id[place] ?? ''))
      bits += entropy
      assertSame(isRegular, false, `whether character ${place} of an id tells that of the next`)
    }
    assertSame(bits >= LEAST_BITS, true, `whether ${bits.toFixed(1)} bits of an id are enough`)
    const rising = ids.filter((id, at) => at > 0 && id > (ids[at - 1] ?? '')).length
    assertSame(isUnlikely(rising, 0.5), false, 'whether later ids come before or after earlier ones')
  },

  async 'ids that the store makes stay the same, and others work too'({ store, again }) {
    const ids = [...(await addTasks(store, 3)), ...(await addTasks(store, 1, () => ({ id: 'of-a-caller' })))]
    const reader = await again()
    for (const one of [store, reader]) {
      assertSame(
        await Promise.all(ids.map(async (id) => (await one.get(id))?.id)),
        ids,
        'ids that get answers',
      )
      assertSame(
        (await one.list({ limit: 10 })).map(({ id }) => id),
        ids,
        'ids in the list',
      )
    }
  },
}

/** How many bits the characters at one place have, and whether one tells the next: as the digit of a time or of a number does. */
function readPlace(characters: readonly string[]): { readonly entropy: number; readonly isRegular: boolean } {
  const counts = new Map<string, number>()
  for (const character of characters) counts.set(character, (counts.get(character) ?? 0) + 1)
  const shares = [...counts.values()].map((count) => count / SAMPLED)
  const entropy = shares.reduce((sum, share) => sum - share * Math.log2(share), 0)
  const same = characters.filter((character, at) => at > 0 && character === characters[at - 1]).length
  const chance = shares.reduce((sum, share) => sum + share ** 2, 0)
  // A sample has a little less entropy than its source, the more the more characters there are.
  const missing = (shares.length - 1) / (2 * SAMPLED * Math.LN2)
  return { entropy: entropy + missing, isRegular: shares.length > 1 && isUnlikely(same, chance) }
}

/** Whether something of this chance does not happen so often among the neighbours of a sample. */
function isUnlikely(count: number, chance: number): boolean {
  const deviation = Math.sqrt(SAMPLED * chance * (1 - chance))
  return Math.abs(count - SAMPLED * chance) > DEVIATIONS * deviation
}
