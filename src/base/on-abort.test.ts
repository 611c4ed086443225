import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { onAbort } from './on-abort.ts'

test('many functions share one listener of a signal, and are called when it aborts', () => {
  const { signal, ...controller } = withSignal()
  const called: number[] = []
  const removers = [1, 2, 3].map((nth) => onAbort(signal, () => called.push(nth)))
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  removers[1]!()
  controller.abort()
  expect(called).toEqual([1, 3])
  for (const remove of removers) remove()
})

test('a signal keeps no listener when all functions are removed, and may get others', () => {
  const { signal, ...controller } = withSignal()
  const called: string[] = []
  for (const _ of [1, 2]) {
    const remove = onAbort(signal, () => called.push('removed'))
    remove()
    remove()
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  }
  onAbort(signal, () => called.push('kept'))
  controller.abort()
  expect(called).toEqual(['kept'])
})

test('a function is called at once if the signal has aborted', () => {
  const called: string[] = []
  onAbort(AbortSignal.abort(), () => called.push('now'))()
  expect(called).toEqual(['now'])
})

function withSignal(): { readonly signal: AbortSignal; abort(): void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
