import { expect, test } from 'vitest'
import { URI } from '../../../rpc/session-fields.ts'
import type { FieldChanges } from '../../../rpc/session-store.ts'
import { ReplicaFields } from './replica-fields.ts'

const X = `${URI}x`
const set = (name: string, text: string | null): FieldChanges => new Map([[name, text]])

/** The fields of a node that has the state of version 4. */
function atFour(): ReplicaFields {
  const fields = new ReplicaFields()
  const stored = { version: 4, fields: new Map([['a', '1']]) }
  const news = fields.newsIn(stored)
  expect(news?.fields).toEqual(stored.fields)
  fields.reached(4, news!)
  return fields
}

function use(fields: ReplicaFields, version: number, changes: FieldChanges): FieldChanges | undefined {
  const news = fields.newsIn({ version, fields: undefined, changes })
  if (news !== undefined) fields.reached(version, news)
  return news?.changes
}

test('changes are taken over once, and old answers are ignored', () => {
  const fields = atFour()
  expect(use(fields, 6, set('a', '2'))).toEqual(set('a', '2'))
  expect(fields.version).toBe(6)
  expect(use(fields, 5, set('a', 'old'))).toBeUndefined()
  expect(fields.newsIn({ version: 6, fields: undefined })).toBeUndefined()
})

test('changes without the state that they belong to are no state', () => {
  const fields = new ReplicaFields()
  expect(fields.newsIn({ version: 5, fields: undefined, changes: set('a', '2') })).toBeUndefined()
})

test('a message that is older than the state changes nothing, and one that is newer does not hide it from the store', () => {
  const fields = atFour()
  expect(fields.newsOf(['x'], [], 6)).toEqual(set(X, ''))
  expect(fields.version).toBe(4)
  expect(use(fields, 7, set(X, null))).toEqual(set(X, null))
  // It was published late.
  expect(fields.newsOf(['x'], [], 6)).toBeUndefined()
  expect(fields.newsOf([], ['x'], 7)).toBeUndefined()
})

test('after a message of a program that tells no version, all fields are read', () => {
  const fields = atFour()
  expect(fields.newsOf(['x'], [], undefined)).toEqual(set(X, ''))
  expect(fields.version).toBe(-1)
  // An answer to a question from before.
  expect(use(fields, 5, set('a', '2'))).toEqual(set('a', '2'))
  expect(fields.version).toBe(-1)
  const all = { version: 5, fields: new Map([['a', '2']]) }
  const news = fields.newsIn(all)
  expect(news?.fields).toEqual(all.fields)
  fields.reached(5, news!)
  expect(fields.version).toBe(5)
})

/** The ways in which a node hears that another one watches x since version 6; each answers what it takes over at once. */
const HEARD: Readonly<Record<string, (fields: ReplicaFields) => unknown>> = {
  'a message': (fields) => fields.newsOf(['x'], [], 6),
  'changes in the store': (fields) => use(fields, 6, set(X, '')),
  'all fields in the store'(fields) {
    const news = fields.newsIn({ version: 6, fields: new Map([[X, '']]) })
    fields.reached(6, news!)
    return news?.fields
  },
}

test.each([
  ['a message', 5, set(X, ''), 5],
  ['a message', 7, new Map(), 4],
  ['changes in the store', 5, set(X, ''), 6],
  ['changes in the store', 7, new Map(), 7],
  ['all fields in the store', 5, set(X, ''), 6],
  ['all fields in the store', 7, new Map(), 7],
])(
  'after %s, a change of this node that gets version %i stays unless the other is later',
  (how, own, later, version) => {
    const fields = atFour()
    fields.set(X, null)
    expect(fields.leave()).toEqual(set(X, null))
    expect(HEARD[how]!(fields)).toEqual(new Map())
    expect(fields.arrived(own)).toEqual(later)
    // It has the next version only if nothing was between.
    expect(fields.version).toBe(version)
  },
)

test('a change that waits to be sent stays, and one that failed is sent again', () => {
  const fields = atFour()
  fields.set(X, null)
  const left = fields.leave()
  fields.set('b', '1')
  expect(
    use(
      fields,
      6,
      new Map([
        [X, ''],
        ['b', '0'],
        ['c', '2'],
      ]),
    ),
  ).toEqual(set('c', '2'))
  fields.failed(left)
  expect([...fields.unsaved]).toEqual([
    [X, null],
    ['b', '1'],
  ])
  expect(fields.leave()).toEqual(
    new Map([
      [X, null],
      ['b', '1'],
    ]),
  )
  expect(fields.arrived(7)).toEqual(new Map())
  expect([fields.version, fields.isUnsaved]).toEqual([7, false])
})
