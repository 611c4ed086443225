import { expect, test } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import { open } from '../harness/client.ts'

const slow = z.object({ text: z.string().regex(/[a-z]+$/) })
const exponential = z.object({ text: z.string().regex(/^(\w+\s?)*$/) })
/** Would keep the server busy for seconds. */
const text = `${'a'.repeat(100_000)}!`

test('M.args-pattern a text that is too long for a pattern of a library is rejected before the library reads it, wherever it goes', async () => {
  const app = createServer({ name: 'slow', version: '1', log: () => undefined })
    .tool('take', { input: slow }, () => 'ok')
    .tool('give', { output: slow }, () => ({ text }))
    .tool('ask', {}, async (_, ctx) => (await ctx.elicit('Which?', slow)).action)
    .prompt('tell', { args: slow }, () => 'ok')
  const client = await open(app, {
    transport: 'memory',
    revision: '2025-11-25',
    capabilities: { elicitation: {} },
    answers: { 'elicitation/create': () => ({ action: 'accept', content: { text } }) },
  })
  const most = /text: must have at most \d+ characters/
  expect(JSON.stringify(await client.call('take', { text: 'a' }))).toMatch('ok')
  expect(JSON.stringify(await client.call('take', { text }))).toMatch(most)
  expect(await client.call('give', {})).toMatchObject({ isError: true })
  expect(JSON.stringify(await client.call('ask', {}))).toMatch(most)
  await expect(client.request('prompts/get', { name: 'tell', arguments: { text } })).rejects.toThrow(most)
})

test('M.args-pattern a pattern of a library that may take exponential time is refused when it is defined', () => {
  const app = createServer({ name: 'slow', version: '1', log: () => undefined })
  const refused = /unsafe pattern.*anchor it with \^/s
  expect(() => app.tool('take', { input: exponential }, () => 'ok')).toThrow(refused)
  expect(() => app.tool('give', { output: exponential }, () => ({ text: '' }))).toThrow(refused)
  expect(() => app.prompt('tell', { args: exponential }, () => 'ok')).toThrow(refused)
})
