import { expect, test, vi } from 'vitest'
import { settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { DIALECTS } from '../protocol/switches.ts'
import { encodeJob } from '../gist/encode.ts'
import { encodeResult } from '../wire/encode.ts'
import { knownMembers, rememberMembers } from './outcome-texts.ts'
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

test('the results of many tasks are parsed and written once, if they are not very short', async () => {
  const rows = Array.from({ length: 100 }, (_, row) => ({ ['key' + row]: row }))
  const results = [{ structuredContent: { rows } }, { structuredContent: { rows }, resultType: 'complete' }]
  const node = new Node().tool('work', (run) => results[Number(run.head!.key) % 2]!)
  const ids: string[] = []
  for (let task = 0; task < 1200; task++) ids.push((await node.start('work', { key: String(task) })).id)
  await settled()
  const texts = async (): Promise<string[]> => {
    const all = ids.map(async (id) => {
      const task = await detailed(node.tasks, (await node.store.head(id))!, { dialect })
      return encodeResult('tasks/get', task, dialect, INFO) as string
    })
    return Promise.all(all)
  }
  const first = await texts()
  let again: readonly string[] = []
  const chars = await charsOf(async () => (again = await texts()))
  expect(again.map((text) => JSON.parse(text) as unknown)).toEqual(
    first.map((text) => JSON.parse(text) as unknown),
  )
  // What is left is the rest of each task.
  expect(chars).toBeLessThan(ids.length * 500)
  expect(first.join('').length).toBeGreaterThan(ids.length * 1500)
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

const ROWS = Array.from({ length: 5000 }, (_, row) => ({ row }))

test.each([
  { content: [{ type: 'text', text: '\u0001'.repeat(20_000) }], isError: true },
  { content: [{ type: 'text', text: JSON.stringify(ROWS) }], structuredContent: { ROWS }, _meta: { a: 1 } },
  { '1': 'first', structuredContent: { ROWS }, content: [] },
])('`tasks/result` does not parse and write a long result again (case %#)', async (result) => {
  const { node, id } = await ended(result)
  const { outcome } = (await node.record(id))!
  const withTask = (others: JsonObject): JsonObject => ({ ...others, task: id })
  const known = (): JsonObject | undefined => knownMembers(node.tasks, id, outcome, withTask)
  expect(known()).toBeUndefined()
  rememberMembers(node.tasks, id, outcome, result)
  const old = DIALECTS['2025-11-25']
  let text = ''
  const encode = async (): Promise<string> =>
    (text = encodeResult('tasks/result', known()!, old, INFO) as string)
  expect(await charsOf(encode)).toBeLessThan(1000)
  expect(JSON.parse(text)).toEqual({ ...result, task: id })
  expect(known()).toEqual({ ...result, task: id })
})

test('a long structured result that is not an object still gets its form of 2025-11-25', async () => {
  const { node, id } = await ended({ content: [], structuredContent: ROWS })
  const { outcome } = (await node.record(id))!
  rememberMembers(node.tasks, id, outcome, { content: [], structuredContent: ROWS })
  const known = knownMembers(node.tasks, id, outcome, (others) => others)!
  const text = encodeResult('tasks/result', known, DIALECTS['2025-11-25'], INFO) as string
  expect(JSON.parse(text)).toMatchObject({ content: [], structuredContent: { result: ROWS } })
})

test('a long result is not parsed and written again for a job', async () => {
  const result = { content: [{ type: 'text', text: JSON.stringify(ROWS) }], structuredContent: { ROWS } }
  const { read } = await ended(result)
  const first = encodeJob(await read(), INFO)
  let again = ''
  expect(await charsOf(async () => (again = encodeJob(await read(), INFO)))).toBeLessThan(1000)
  expect(JSON.parse(again)).toEqual(JSON.parse(first))
  expect(JSON.parse(again)).toMatchObject({ status: 'success', result })
})
