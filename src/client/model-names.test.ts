import { assert, constantFrom, oneof, property, string, uniqueArray } from 'fast-check'
import { expect, test } from 'vitest'
import { ModelNames, SEPARATOR } from './model-names.ts'
import { processorMs } from '../../test/harness/processor.ts'

const MODEL_NAME = /^[a-zA-Z0-9_-]{1,128}$/
/** Text that often comes close to a separator, to a changed name or to the greatest length. */
const text = (maxLength: number) =>
  oneof(
    string({ maxLength, unit: constantFrom('_', '-', 'a', 'b', '.', ' ', 'é') }),
    string({ maxLength, unit: 'grapheme' }),
    constantFrom(
      'a_0123456789',
      'a-0123456789',
      'a 0123456789',
      'x'.repeat(48),
      'x'.repeat(49),
      'x'.repeat(128),
    ),
  )
const separator = string({ minLength: 1, maxLength: 8, unit: constantFrom('_', '-') })
const RUNS = { numRuns: 300 }

test('no two items of any servers have the same name, and each name leads back to its server', () => {
  assert(
    property(uniqueArray(text(60)), uniqueArray(text(130)), separator, (servers, items, between) => {
      const names = new ModelNames(servers, between)
      const found = new Map<string, string>()
      for (const server of servers) {
        for (const item of items) {
          const name = names.nameOf(server, item)
          expect(name).toMatch(MODEL_NAME)
          expect([name, found.get(name)]).toEqual([name, undefined])
          found.set(name, item)
          const read = names.read(name)
          expect(read).toEqual({ server, item: read?.item === undefined ? undefined : item })
        }
      }
    }),
    RUNS,
  )
})

test('a name does not depend on the order of the servers', () => {
  assert(
    property(uniqueArray(text(60), { minLength: 2 }), text(130), separator, (servers, item, between) => {
      const [forth, back] = [new ModelNames(servers, between), new ModelNames(servers.toReversed(), between)]
      for (const server of servers) expect(back.nameOf(server, item)).toBe(forth.nameOf(server, item))
    }),
    RUNS,
  )
})

test('a changed name of one server never becomes a plain name of another', () => {
  assert(
    property(uniqueArray(text(60), { minLength: 2 }), text(130), separator, (servers, item, between) => {
      const names = new ModelNames(servers, between)
      const [one = '', two = ''] = servers
      const taken = names.nameOf(one, item)
      for (let at = 0; at < taken.length; at++) expect(names.nameOf(two, taken.slice(at))).not.toBe(taken)
    }),
    RUNS,
  )
})

test.each([
  [['git'], '__', 'git', 'list', 'git__list'],
  [['git'], '-', 'git', 'get-file', 'git-get-file'],
  [['My Server (beta)'], '__', 'My Server (beta)', 'list', 'My-Server-beta__list'],
  [['my_server'], '_', 'my_server', 'list', 'my-server_list'],
  [['my-server'], '-', 'my-server', 'list', 'my_server-list'],
  [['服务器'], '__', '服务器', 'list', 'server__list'],
  [['a.b', 'a-b'], '__', 'a-b', 'list', 'a-b__list'],
])('of the servers %j with %j, %j names its item %j %j', (servers, between, server, item, name) => {
  const names = new ModelNames(servers, between)
  expect(names.nameOf(server, item)).toBe(name)
  expect(names.read(name)).toEqual({ server, item })
})

test.each([
  ['a.b', /^a-b-[0-9a-f]{10}__list$/],
  ['a b', /^a-b-[0-9a-f]{10}__list$/],
])('of several servers whose prefix would be the same, %j gets a hash', (server, pattern) => {
  expect(new ModelNames(['a.b', 'a b'], '__').nameOf(server, 'list')).toMatch(pattern)
  expect(new ModelNames(['a.b', 'a b', 'a-b'], '__').nameOf(server, 'list')).toMatch(pattern)
})

test('a changed item keeps as much of its name as there is room for', () => {
  const names = new ModelNames(['git'], '__')
  expect(names.nameOf('git', 'issues.list')).toMatch(/^git__issues_list_[0-9a-f]{10}$/)
  const room = 128 - 'git__'.length
  expect(names.nameOf('git', 'x'.repeat(room))).toBe(`git__${'x'.repeat(room)}`)
  expect(names.nameOf('git', 'x'.repeat(room + 1))).toMatch(/^git__x{112}_[0-9a-f]{10}$/)
  expect(names.read(names.nameOf('git', 'issues.list'))).toEqual({ server: 'git', item: undefined })
  // It looks like a changed name, so it is changed too.
  expect(names.nameOf('git', 'a_0123456789')).toMatch(/^git__a_0123456789_[0-9a-f]{10}$/)
})

test('a changed item has the same name in every version', () => {
  const names = new ModelNames(['git'], '__')
  expect(names.nameOf('git', 'issues.list')).toBe('git__issues_list_83895251ba')
  expect(names.nameOf('git', '--..--')).toBe('git___185d2e53f5')
  expect(names.nameOf('git', 'é')).toBe('git___6c0812596f')
  expect(names.nameOf('git', 'a.100')).toBe('git__a_100_0f40642057')
})

test('a name without a known prefix leads nowhere', () => {
  const names = new ModelNames(['git', ''], '__')
  for (const name of ['', 'list', 'git', 'git_list', 'Git__list', '__list', 'hub__list'])
    expect(names.read(name)).toBeUndefined()
  expect(names.read('git__')).toEqual({ server: 'git', item: '' })
})

test('separators have only characters that the parts of a name can do without', () => {
  for (const value of ['_', '-', '__', '-_', '_'.repeat(8)]) expect(SEPARATOR.is(value)).toBe(true)
  for (const value of ['', '_'.repeat(9), 'a', '.', '_a', ' ', '_\n', 5, undefined])
    expect(SEPARATOR.is(value)).toBe(false)
})

test('a name of megabytes costs little where names are made for models', async () => {
  const names = new ModelNames(['one'], '_')
  const long = ' '.repeat(15_000_000)
  let name = ''
  const ms = await processorMs(() => {
    for (let times = 0; times < 4; times++) name = names.nameOf('one', long)
  })
  expect(name).toMatch(/^one_[_0-9a-f]{1,124}$/)
  expect(ms).toBeLessThan(3000)
})
