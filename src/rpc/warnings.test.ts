import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { Warnings } from './warnings.ts'

test('each item is new once, for each cause, until 20 were reported', () => {
  const warnings = new Warnings()
  expect([warnings.isNew('a', '1'), warnings.isNew('a', '1'), warnings.isNew('b', '1')]).toEqual([
    true,
    false,
    true,
  ])
  for (let at = 2; at <= 20; at++) expect(warnings.isNew('a', `${at}`)).toBe(true)
  expect([warnings.isNew('a', '21'), warnings.isNew('b', '2')]).toEqual([false, true])
})

test('a cause that was reported for 20 items is reported for others an hour later, and the rest stay reported', () => {
  let now = 0
  const warnings = new Warnings(() => now)
  warnings.isNew('few', '1')
  for (let at = 1; at <= 20; at++) warnings.isNew('hosts', `junk-${at}`)
  now += 3_599_999
  expect(warnings.isNew('hosts', 'real')).toBe(false)
  now += 1
  expect(['real', 'real'].map((item) => warnings.isNew('hosts', item))).toEqual([true, false])
  for (let at = 2; at <= 20; at++) expect(warnings.isNew('hosts', `junk-${at}`)).toBe(true)
  expect(warnings.isNew('hosts', 'more')).toBe(false)
  expect(warnings.isNew('few', '1')).toBe(false)
})

test('of a long item only the beginning counts and is kept', () => {
  const warnings = new Warnings()
  const before = heapUsed()
  for (let at = 0; at < 20; at++)
    expect(warnings.isNew('long', JSON.parse(`"${at} ${'x'.repeat(5_000_000)}"`) as string)).toBe(true)
  expect(heapUsed() - before).toBeLessThan(50_000_000)
  expect(warnings.isNew('other', `${'x'.repeat(512)}1`)).toBe(true)
  expect(warnings.isNew('other', `${'x'.repeat(512)}2`)).toBe(false)
})

function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return process.memoryUsage().heapUsed
}
