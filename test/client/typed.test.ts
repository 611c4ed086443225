import { expect, expectTypeOf, test } from 'vitest'
import { createServer, defineTools } from 'pierhead'
import { z } from 'zod'
import { connect, type AnyTools } from '../../src/client.ts'
import { everyRevision, testClient } from '../../src/testing.ts'

const tools = defineTools({
  add: {
    input: z.object({ a: z.number(), b: z.number() }),
    output: z.object({ sum: z.number() }),
    run: ({ a, b }) => ({ sum: a + b }),
  },
  shout: {
    input: z.object({ text: z.string(), times: z.number().default(1) }),
    run: ({ text, times }) => `${text.toUpperCase()}!`.repeat(times),
  },
})

everyRevision((revision) =>
  test(`tools that are known by type are called with their input and give back their output at ${revision}`, async () => {
    const app = createServer({ name: 'typed', version: '1', tools })
    await using client = await testClient<typeof tools>(app, { revision })
    const added = client.call('add', { a: 1, b: 2 })
    expectTypeOf(added).resolves.toEqualTypeOf<{ sum: number }>()
    expect(await added).toEqual(revision >= '2025-06-18' ? { sum: 3 } : '{"sum":3}')
    expect(await client.call('shout', { text: 'hey' })).toBe('HEY!')
    // @ts-expect-error a text is needed
    await expect(client.call('shout', { times: 2 })).rejects.toThrow('text')
    // @ts-expect-error there is no such tool
    await expect(client.call('whisper', {})).rejects.toThrow('whisper')
  }),
)

test('tools that are not known by type are called by any name', async () => {
  await using client = await connect<AnyTools>(createServer({ name: 'typed', version: '1', tools }))
  const called = client.call('add', { a: 2, b: 2 })
  expectTypeOf(called).resolves.toBeUnknown()
  expect(await called).toEqual({ sum: 4 })
})
