import { expect, test } from 'vitest'
import { PAGE_RULES } from '../../src/validate/server-rules/pages.ts'
import type { Verdict } from '../../src/validate/rule.ts'
import type { ServerSubject } from '../../src/validate/server-subject.ts'
import { SCHEMA_RULES } from '../../src/validate/server-rules/schemas.ts'
import { TEXT_RULES } from '../../src/validate/server-rules/texts.ts'
import { processorMs } from '../harness/processor.ts'

const unique = PAGE_RULES.find(({ id }) => id === 'V170')

/** What V170 says about a server with so many resources, whose URIs are texts of their own. */
async function verdict(count: number, more: readonly object[] = []): Promise<Verdict | undefined> {
  const resources = [...Array.from({ length: count }, (_, at) => ({ uri: `note://${at}` })), ...more]
  const subject = { list: async (kind: string) => (kind === 'resources' ? resources : []) }
  return unique?.check(subject as unknown as ServerSubject)
}

test('the names in a long list are compared in the time that reading it takes', async () => {
  const many = (lists: number, count: number): Promise<number> =>
    processorMs(async () => {
      for (let times = 0; times < lists; times++) expect(await verdict(count)).toMatchObject({ is: 'passed' })
    })
  await many(200, 800)
  const usual = await many(200, 800)
  expect(await many(4, 40_000)).toBeLessThan(8 * usual)
})

test('a URI that comes twice is found, and items without one are not the same', async () => {
  expect(await verdict(2, [{}, {}])).toMatchObject({ is: 'passed' })
  expect(await verdict(2, [{}, { uri: 'note://1' }])).toMatchObject({
    is: 'failed',
    found: 'two resources have the uri "note://1"',
  })
})

/** V013 only counts so many tools. */
const RULES = [...TEXT_RULES, ...SCHEMA_RULES].filter(({ id }) => id !== 'V013')

test.each(RULES)('the time for the run can end while $id looks at a long list', async ({ check }) => {
  const tools = Array.from({ length: 20_000 }, () => ({ name: 'a b', inputSchema: { type: 'array' } }))
  const list = async (kind: string): Promise<readonly object[]> => (kind === 'tools' ? tools : [])
  const notes = new Map<string, unknown>()
  const once = (name: string, work: () => unknown): unknown => {
    if (!notes.has(name)) notes.set(name, work())
    return notes.get(name)
  }
  const subject = { shared: async () => ({}), list, once } as unknown as ServerSubject
  // What is found out once takes turns by itself.
  await check(subject)
  let turns = 0
  const count = (): void => {
    turns++
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  await check(subject)
  clearImmediate(timer)
  expect(turns).toBeGreaterThanOrEqual(10)
})
