import { expect, test } from 'vitest'
import { processorMs } from '../../../test/harness/processor.ts'
import { Form } from './form.ts'

const params = (...names: readonly string[]): URLSearchParams =>
  new URLSearchParams(names.map((name) => [name, 'x']))

test('a parameter may occur once, and a resource several times', () => {
  expect(new Form(params('a', 'b', 'resource', 'resource')).get('a')).toBe('x')
  expect(() => new Form(params('a', 'b', 'a'))).toThrow('a parameter occurs twice: a')
})

test('the cost of a form grows with its parameters, not with their square', async () => {
  const many = params(...Array.from({ length: 60_000 }, (_, at) => `p${at}`))
  const text = many.toString()
  const parsed = await processorMs(() => new URLSearchParams(text))
  expect(await processorMs(() => new Form(many))).toBeLessThan(10 * parsed + 100)
})
