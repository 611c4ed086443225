import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

/** Levenshtein distance that counts swapped neighbours once, as in every textbook. */
function distance(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_cell, j) => (i === 0 ? j : i)),
  )
  const at = (i: number, j: number): number => table[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const ways = [at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same]
      table[i]![j] = Math.min(...ways, swapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY)
    }
  return at(a.length, b.length)
}

/** Numbers that look random and are the same in every run. */
function numbers(): () => number {
  let last = 42
  return () => (last = (last * 16_807) % 2_147_483_647) / 2_147_483_647
}

test.each([
  ['short', 1, 14, 'abc'],
  ['of about 32 letters', 28, 9, 'ab'],
  ['long', 60, 6, 'ab'],
])(
  'the first of the most similar candidates is found, if it differs by at most a third, among %s words',
  (_, shortest, lengths, letters) => {
    const next = numbers()
    const word = (): string =>
      Array.from(
        { length: shortest + Math.floor(next() * lengths) },
        () => letters[Math.floor(next() * letters.length)],
      ).join('')
    let found = 0
    for (let round = 0; round < 2000 / shortest; round++) {
      const meant = word()
      const candidates = Array.from({ length: 6 }, word)
      // Names of one letter are similar only to themselves.
      const steps = candidates.map((one) =>
        (one.length < 2 || meant.length < 2) && one !== meant ? 99 : distance(meant, one),
      )
      const least = Math.min(...steps)
      const isNear = least <= Math.max(1, Math.floor(meant.length / 3))
      if (isNear) found++
      expect([meant, candidates, nearest(meant, candidates)]).toEqual([
        meant,
        candidates,
        isNear ? candidates[steps.indexOf(least)] : undefined,
      ])
    }
    expect(found).toBeGreaterThan(200 / shortest)
  },
)

test('a name of one letter is like no other', () => {
  expect(nearest('c', ['a', 'b', 'cd'])).toBeUndefined()
  expect(nearest('on', ['n'])).toBeUndefined()
  expect(nearest('A', ['a'])).toBe('a')
})

test('capitals do not count, and a long word is like nothing', () => {
  expect(nearest('SEARCH', ['serach'])).toBe('serach')
  expect(nearest('İİİ', ['iii', 'İİI'])).toBe('İİI')
  expect(nearest('x'.repeat(129), ['x'.repeat(129)])).toBeUndefined()
})

test.each([
  ['that begin alike', (at: number) => `https://example.com/${'a/'.repeat(40)}${at}`],
  ['of other letters', (at: number) => `${at}${'xyz'.repeat(30)}`.slice(0, 100)],
  ['that differ everywhere a little', (at: number) => `${'ab-'.repeat(33)}${at}`.slice(0, 100)],
])('the work is limited, however many candidates there are %s', (_, make) => {
  let given = 0
  function* endless(): Generator<string> {
    for (;;) yield make(given++)
  }
  for (const word of [`https://example.com/${'b/'.repeat(40)}`, 'ba-'.repeat(33), 'y'.repeat(100)]) {
    const work = { steps: 0 }
    given = 0
    nearest(word, endless(), work)
    expect(given).toBeLessThanOrEqual(1001)
    expect(work.steps).toBeLessThan(11_000)
  }
})

test('letters of other alphabets are compared without regard to capitals too', () => {
  expect(nearest('ПОИКС_ЗАКАЗОВ', ['поиск_людей', 'поиск_заказов'])).toBe('поиск_заказов')
  expect(nearest('größe', ['GROSSE', 'GRÖßen'])).toBe('GRÖßen')
})

test('a name among hundreds of usual ones is found', () => {
  const names = Array.from(
    { length: 399 },
    (_, at) => `list_${['orders', 'users', 'ships'][at % 3]}_of_${at}`,
  )
  expect(nearest('cancle_everything', [...names, 'cancel_everything'])).toBe('cancel_everything')
  expect(nearest('list_ordres_of_3', names)).toBe('list_orders_of_3')
})
