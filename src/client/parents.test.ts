import { expect, test } from 'vitest'
import { Parents } from './parents.ts'
import { processorMs } from '../../test/harness/processor.ts'

/** Whether a URI is the parent itself or lies below it. A slash at the end makes no difference. */
const isWithin = (uri: string, parent: string): boolean =>
  `${uri.replace(/\/$/, '')}/`.startsWith(`${parent.replace(/\/$/, '')}/`)

const NAMES = [
  'a://b',
  'a://b/',
  'a://b/c',
  'a://b/c/d',
  'a://bc',
  'a://b!',
  'a:',
  'z://',
  'a://b/c!',
  'a://b0/c',
]

test('finds the same URIs as looking at each of them', () => {
  for (let seed = 0; seed < 1 << NAMES.length; seed += 3) {
    const some = NAMES.filter((_, at) => (seed >> at) & 1)
    const parents = new Parents(some)
    for (const uri of [...NAMES, 'a://b/c/d/e', 'a://b/x', 'y://', '']) {
      const found = [...parents.of(uri)].toSorted()
      expect([some, uri, found]).toEqual([some, uri, some.filter((one) => isWithin(uri, one)).toSorted()])
    }
  }
})

test('finds the nearest first, and twice what was given twice', () => {
  const parents = new Parents(['a://b/c', 'a://b', 'a://b/c', 'a://b/d'])
  expect([...parents.of('a://b/c/x')]).toEqual(['a://b/c', 'a://b/c', 'a://b'])
  expect([...new Parents([]).of('a://b')]).toEqual([])
})

test('does not take longer in proportion to the number of URIs', async () => {
  const cost = (count: number): Promise<number> => {
    const parents = new Parents(Array.from({ length: count }, (_, at) => `a://b/${at}`))
    return processorMs(() => {
      for (let at = 0; at < 20_000; at++)
        for (const _ of parents.of(`a://b/none/${at}`)) throw new Error('found')
    })
  }
  await cost(50)
  const few = await cost(50)
  expect(await cost(5000)).toBeLessThan(20 * few)
})

/** Folders within each other, all of them long. */
const nested = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${'\u0100'.repeat(6000)}/${'a/'.repeat(at)}`)

test('does not compare a URI with each of the URIs within each other', async () => {
  const cost = (count: number): Promise<number> => {
    const parents = new Parents(nested(count))
    const beside = `${'\u0100'.repeat(6000)}/${'b'.repeat(2000)}`
    return processorMs(() => {
      for (let at = 0; at < 500; at++)
        if ([...parents.of(`${beside}${at}`)].length !== 1) throw new Error('none')
    })
  }
  await cost(10)
  const few = await cost(10)
  expect(await cost(1000)).toBeLessThan(10 * few)
})
