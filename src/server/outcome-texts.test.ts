import { expect, test, vi } from 'vitest'
import { settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { DIALECTS } from '../protocol/switches.ts'
import { encodeResult } from '../wire/encode.ts'
import { detailed } from './task-methods.ts'

const INFO = { name: 'films', version: '1' }
const dialect = DIALECTS['2026-07-28']

/** A task that has ended with a result, and a function that reads it as `tasks/get` does. */
async function ended(result: JsonObject) {
  const node = new Node().tool('work', () => result)
  const { id } = await node.start('work')
  await settled()
  const read = async (): Promise<JsonObject> =>
    detailed(node.tasks, (await node.store.head(id))!, { dialect })
  const text = async (): Promise<string> => encodeResult('tasks/get', await read(), dialect, INFO) as string
  return { node, id, read, text }
}

/** The characters that are parsed and written by `act`. */
async function charsOf(act: () => Promise<unknown>): Promise<number> {
  const [parse, stringify] = [vi.spyOn(JSON, 'parse'), vi.spyOn(JSON, 'stringify')]
  await act()
  const parsed = parse.mock.calls.map(([text]) => text.length)
  const written = stringify.mock.results.map(({ value }) => (value as string | undefined)?.length ?? 0)
  parse.mockRestore()
  stringify.mockRestore()
  return [...parsed, ...written].reduce((sum, chars) => sum + chars, 0)
}

test.each([
  { content: [{ type: 'text', text: '\u0001'.repeat(20_000) }], isError: true },
  { structuredContent: { rows: Array.from({ length: 5000 }, (_, row) => ({ row })) }, _meta: { a: 1 } },
])('a long result is parsed and written once, whoever reads it (case %#)', async (result) => {
  const { text } = await ended(result)
  const first = await text()
  let again = ''
  expect(await charsOf(async () => (again = await text()))).toBeLessThan(1000)
  expect(JSON.parse(again)).toEqual(JSON.parse(first))
  expect(again.length).toBe(first.length)
})

test('middleware that reads a long result gets it, and may change it', async () => {
  const { read, text } = await ended({ content: [{ type: 'text', text: 'x'.repeat(20_000) }] })
  await text()
  const task = (await read()) as { result: { content: JsonObject[] } }
  task.result.content = [{ type: 'text', text: 'changed' }]
  const encode = (one: JsonObject): JsonObject =>
    JSON.parse(encodeResult('tasks/get', one, dialect, INFO) as string) as JsonObject
  expect(encode(task)['result']).toMatchObject({ content: [{ text: 'changed' }] })
  const other = { ...(await read()), more: 1 }
  expect(encode(other)).toMatchObject({ more: 1, result: { content: [{ text: 'x'.repeat(20_000) }] } })
  const replaced = (await read()) as { result: unknown }
  replaced.result = { content: [] }
  expect(encode(replaced as JsonObject)['result']).toEqual({ content: [] })
})

test('a long outcome that is damaged is never sent', async () => {
  const { node, id, read } = await ended({ content: [{ type: 'text', text: 'x'.repeat(20_000) }] })
  const found = (await node.store.read(id, 'outcome', Number.MAX_SAFE_INTEGER))!
  vi.spyOn(node.store, 'read').mockReturnValue({ ...found, text: found.text!.slice(0, -1) })
  for (let time = 0; time < 2; time++) expect(await read()).toMatchObject({ error: { code: -32603 } })
})
