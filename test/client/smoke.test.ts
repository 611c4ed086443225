import { createServer } from 'pierhead'
import { z } from 'zod'
import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { everyRevision, testClient } from '../../src/testing.ts'

const app = createServer({ name: 'weather', version: '1.0.0' })
app.tool(
  'add',
  { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) },
  ({ a, b }) => ({ sum: a + b }),
)
app.tool('ask', {}, async (_, ctx) => {
  ctx.progress(1, 2)
  const r = await ctx.elicit('name?', z.object({ name: z.string() }))
  return r.action === 'accept' ? `hi ${r.content.name}` : 'no'
})
app.resource('a://b', {}, () => 'text')

everyRevision((revision) =>
  test(`memory ${revision}`, async () => {
    await using client = await testClient(app, {
      revision,
      answers: { elicit: [{ action: 'accept', content: { name: 'Z' } }] },
    })
    const tools = []
    for await (const tool of client.tools()) tools.push(tool.name)
    expect(tools).toEqual(['add', 'ask'])
    const sum = await client.call('add', { a: 1, b: 2 })
    expect(sum).toEqual(revision < '2025-06-18' ? '{"sum":3}' : { sum: 3 })
    if (revision >= '2025-06-18') expect(await client.call('ask')).toBe('hi Z')
    expect(client.events.filter((e) => e.kind === 'progress').length).toBeGreaterThanOrEqual(
      revision >= '2025-06-18' ? 1 : 0,
    )
    await expect(client.call('addd', {})).rejects.toMatchObject({ kind: 'unknown_tool' })
    expect((await client.read('a://b')).contents[0]).toMatchObject({ text: 'text' })
  }),
)
everyRevision((revision) =>
  test(`http ${revision}`, async () => {
    const running = await app.listen({ http: { port: 0 } })
    {
      await using client = await connect(running.url!, {
        revision,
        answers: { elicit: () => ({ action: 'accept', content: { name: 'Z' } }) },
      })
      expect(await client.call('add', { a: 1, b: 2 })).toEqual(
        revision < '2025-06-18' ? '{"sum":3}' : { sum: 3 },
      )
      if (revision >= '2025-06-18') expect(await client.call('ask')).toBe('hi Z')
      const changes = client.watch({ resources: ['a://b'] })
      const first = changes.next()
      await new Promise((r) => setTimeout(r, 100))
      app.updated('a://b')
      expect((await first).value).toEqual({ kind: 'resource', uri: 'a://b' })
      await changes.return(undefined)
    }
    await running.close()
  }),
)
test('auto', async () => {
  const running = await app.listen({ http: { port: 0 } })
  await using client = await connect(running.url!)
  expect((await client.server()).revision).toBe('2026-07-28')
  await running.close()
})
