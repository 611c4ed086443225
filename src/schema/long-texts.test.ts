import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { toChecker } from './checker.ts'

let chars = 0
const counted = z.string().refine((text) => ((chars += text.length), true))
const pattern = Object.assign(/^a*$/, { test: (text: string) => ((chars += text.length), true) })
const countedByValibot = v.pipe(v.string(), v.regex(pattern))

test('a long text is checked a few times, however many pieces the value around it has', async () => {
  const names = Array.from({ length: 50 }, (_, at) => `text${at}`)
  const shape = Object.fromEntries(names.map((name) => [name, counted]))
  const schema = z.object({ ...shape, more: z.object({ note: counted, list: z.array(z.number()) }) })
  const text = 'a'.repeat(20_000)
  const value = {
    ...Object.fromEntries(names.map((name) => [name, text])),
    more: { note: text, list: Array.from({ length: 50_000 }, (_, at) => at) },
  }
  chars = 0
  expect(await toChecker(schema, 'input').check(value)).toMatchObject({ ok: true })
  expect(chars / (text.length * (names.length + 1))).toBeLessThan(6)
})

test('the beginning of a long text says nothing about it', async () => {
  const schema = z.object({ text: z.string().min(1000), kind: z.string().max(8), list: z.array(z.number()) })
  const list = Array.from({ length: 50_000 }, (_, at) => at)
  const { check } = toChecker(schema, 'input')
  expect(await check({ text: 'a'.repeat(1000), kind: 'short', list })).toMatchObject({ ok: true })
  expect(await check({ text: 'a'.repeat(999), kind: 'short', list })).toMatchObject({ ok: false })
  expect(await check({ text: 'a'.repeat(1000), kind: 'not so short', list })).toMatchObject({ ok: false })
})

test('alternatives that contain themselves read a long text once', async () => {
  const node: v.GenericSchema = v.lazy(() =>
    v.union([
      v.object({ below: node, kind: v.literal('a') }),
      v.object({ below: node }),
      v.object({ text: countedByValibot }),
    ]),
  )
  let value: unknown = { text: 'a'.repeat(1_000_000) }
  for (let level = 0; level < 40; level++) value = { below: value }
  const { check } = toChecker(toStandardJsonSchema(v.object({ root: node })), 'input')
  chars = 0
  expect(await check({ root: value })).toMatchObject({ ok: true })
  expect(chars).toBeLessThan(3_000_000)
})
