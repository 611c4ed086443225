import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { connect } from 'pierhead/client'
import { createServer } from 'pierhead'
import { defineExtension, health, toolStream, type Health } from 'pierhead/extensions'
import type { CallToolResult } from '../../src/protocol/spec/2026-07-28.ts'

const tides = defineExtension({
  id: 'com.example/tides',
  methods: {
    next: { params: z.object({ harbour: z.string().default('x') }), result: z.object({ high: z.number() }) },
    raw: { params: { type: 'object', properties: { at: { type: 'number' } }, required: ['at'] } },
    none: {},
  },
  serve: (options: { readonly unit: string } | undefined) => ({
    next: ({ harbour }, context) => {
      expectTypeOf(harbour).toEqualTypeOf<string>()
      expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>()
      return { high: options?.unit === 'm' ? 3 : 10 }
    },
    raw: async ({ at }) => ({ at: at.toFixed() }),
    none: () => undefined,
  }),
})

test('the types of an extension come from its schemas, on both sides', async () => {
  const app = createServer({ name: 'x', version: '1' })
    .extend(tides({ unit: 'm' }))
    .extend(tides)
  // @ts-expect-error -- no such option
  app.extend(tides({ units: 'm' }))
  // @ts-expect-error -- not an extension
  app.extend('health')
  const client = await connect(app, {
    extensions: [tides, health, { id: 'com.example/x', settings: { a: 1 } }],
  })
  const remote = tides.of(client)
  expectTypeOf(await remote.next({})).toEqualTypeOf<{ high: number }>()
  expectTypeOf(await remote.none()).toEqualTypeOf<Readonly<Record<string, unknown>>>()
  // @ts-expect-error -- at is missing
  await remote.raw({})
  // @ts-expect-error -- params are missing
  await remote.raw()
  // @ts-expect-error -- no such method
  await remote.other()
  expectTypeOf(await health.of(client).status()).toEqualTypeOf<Health>()
  const stream = toolStream.of(client).stream('x')
  const step = await stream.next()
  if (step.done === true) expectTypeOf(step.value).toEqualTypeOf<CallToolResult>()
})

test('serve must answer every method, with what its result schema takes', () => {
  const methods = { a: { result: z.object({ n: z.number() }) }, b: {} }
  // @ts-expect-error -- b has no handler
  const half = defineExtension({ id: 'com.example/x', methods, serve: () => ({ a: () => ({ n: 1 }) }) })
  expectTypeOf(half.id).toEqualTypeOf<string>()
  defineExtension({
    id: 'com.example/x',
    methods,
    // @ts-expect-error -- n is no string
    serve: () => ({ a: () => ({ n: 'x' }), b: () => undefined }),
  })
})
