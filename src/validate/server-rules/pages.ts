import { isDeepStrictEqual } from 'node:util'
import { isObject, member } from '../message.ts'
import { absent, ALL, failed, noneOf, passed, TRANSPORTS, type Rule, type Verdict } from '../rule.ts'
import type { Kind, ServerSubject } from '../server-subject.ts'

/** The most pages of a list that are read. */
const MOST_PAGES = 10

const LISTS = [
  ['tools', 'tools/list', 'tools'],
  ['resources', 'resources/list', 'resources'],
  ['resources', 'resources/templates/list', 'resourceTemplates'],
  ['prompts', 'prompts/list', 'prompts'],
] as const

/** What makes an item of a list different from all others. */
const KEYS: readonly (readonly [Kind, string, string])[] = [
  ['tools', 'name', 'tools'],
  ['resources', 'uri', 'resources'],
  ['prompts', 'name', 'prompts'],
]

/** Our own checks of lists and their pages. */
export const PAGE_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V183',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Every page of a list can be read, and no page comes twice.',
    how: `Follows nextCursor through every list, for ${MOST_PAGES} pages at most.`,
    fix: 'Accept the cursors that you give out, and leave nextCursor out on the last page.',
    async check(subject) {
      const capabilities = await subject.capabilities()
      for (const [capability, method, key] of LISTS) {
        if (!Object.hasOwn(capabilities, capability)) continue
        const verdict = await pagesOf(subject, method, key)
        if (verdict.is !== 'passed') return verdict
      }
      return passed
    },
  },
  {
    id: 'V170',
    level: 'should',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'The names of tools and prompts, and the URIs of resources, are unique.',
    how: 'Looks at everything that the server lists.',
    fix: 'Rename all but one of those that share a name.',
    async check(subject) {
      const lists = await Promise.all(
        KEYS.map(async ([kind, key, what]) => {
          const values = (await subject.list(kind)).map((item) => item[key])
          const twice = firstTwice(values)
          return { values, fault: twice === undefined ? [] : [`two ${what} have the ${key} ${short(twice)}`] }
        }),
      )
      if (lists.every(({ values }) => values.length === 0)) return absent('the server lists nothing')
      return noneOf(lists.flatMap(({ fault }) => fault))
    },
  },
]

/** Reads the pages of a list, and fails at a cursor that leads nowhere or back. */
async function pagesOf(subject: ServerSubject, method: string, key: string): Promise<Verdict> {
  const session = await subject.shared()
  const seen = new Map<unknown, unknown>()
  let cursor: unknown
  for (let page = 0; page < MOST_PAGES; page++) {
    const { result, error } = await session.request(method, cursor === undefined ? undefined : { cursor })
    if (error !== undefined && page > 0)
      return failed(
        `${method} gave out the cursor ${short(cursor)}, and answers it with the error ${short(error['message'])}`,
      )
    const items = member(result, key)
    if (!isObject(result) || !Array.isArray(items)) return passed
    if (seen.has(cursor) && items.length > 0 && isDeepStrictEqual(seen.get(cursor), items))
      return failed(`${method} returns the page of the cursor ${short(cursor)} again and again`)
    const same = items.length > 0 && [...seen].find(([, before]) => isDeepStrictEqual(before, items))
    if (same)
      return failed(
        `${method} returns the same page for the cursors ${short(same[0] ?? null)} and ${short(cursor)}`,
      )
    seen.set(cursor, items)
    cursor = result['nextCursor']
    // Before 2026-07-28 nobody said whether an empty text is a cursor.
    if (typeof cursor !== 'string' || (cursor === '' && !subject.isModern)) return passed
  }
  return passed
}

/** The first value that came before. A server chooses how many there are, so they are not compared one by one. */
function firstTwice(values: readonly unknown[]): unknown {
  const seen = new Set<unknown>()
  return values.find((value) => value !== undefined && seen.size === seen.add(value).size)
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? '').slice(0, 100)
}
