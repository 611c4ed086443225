import fc from 'fast-check'
import { expect, test } from 'vitest'
import { processorMs } from '../../test/harness/processor.ts'
import { expand } from './expand.ts'
import { match } from './match.ts'
import { parseTemplate } from './parse.ts'
import { toPlainTest } from './plain.ts'

test.each([
  ['notes://{id}', 'notes://a-1_~', true],
  ['notes://{id}', 'notes://read.me.md', true],
  ['notes://{id}', 'notes://', false],
  ['notes://{id}', 'notes://..', false],
  ['notes://{id}', 'notes://.a', false],
  ['notes://{id}', 'notes://a..b', false],
  ['notes://{id}', 'notes://a%2Fb', false],
  ['notes://{id}', `notes://${'a'.repeat(9000)}`, false],
  ['notes://{id}', 'xnotes://a', false],
  ['a://{x}/y.{z}?', 'a://b/y.c?', true],
  ['a://{x}/y.{z}?', 'a://b/yxc?', false],
  ['a://{x}-{y}', 'a://b-c', false],
  ['a://{x}{y}', 'a://bc', false],
  ['a://{x,y}', 'a://b,c', false],
  ['a://{+x}', 'a://b', false],
  ['a://{x*}', 'a://b', false],
  ['a://{x:3}', 'a://b', false],
  ['a://%2E%2E/{x}', 'a://%2E%2E/b', false],
])('the quick test of %s says about %.40s: %s', (template, uri, isPlain) => {
  expect(toPlainTest(parseTemplate(template))(uri)).toBe(isPlain)
})

test('where the quick test succeeds, matching gives back the values', () => {
  const value = fc.string({ unit: fc.constantFrom(...Array.from('aaaZ0-._~/%')), minLength: 1, maxLength: 5 })
  const literal = fc.string({ unit: fc.constantFrom(...Array.from('//?aa-.=')), maxLength: 4 })
  let plain = 0
  fc.assert(
    fc.property(literal, literal, literal, value, value, (before, between, after, x, y) => {
      const template = parseTemplate(`a:${before}{x}${between}{y}${after}`)
      const uri = expand(template, { x, y })
      if (!toPlainTest(template)(uri)) return
      plain++
      expect(match(template, uri)).toEqual({ x, y })
    }),
    { numRuns: 5000, seed: 1 },
  )
  expect(plain).toBeGreaterThan(50)
})

test('the quick test takes a fraction of the time of matching', async () => {
  const template = parseTemplate('notes://{id}')
  const isPlain = toPlainTest(template)
  const uris = Array.from({ length: 1000 }, (_, at) => `notes://${String(at).padStart(200, 'a')}`)
  const quick = await processorMs(() => expect(uris.every(isPlain)).toBe(true))
  const full = await processorMs(() =>
    expect(uris.every((uri) => match(template, uri) !== undefined)).toBe(true),
  )
  expect(quick).toBeLessThan(full / 2)
})
