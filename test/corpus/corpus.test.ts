import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isMethodAt, METHODS, methodRow } from '../../src/protocol/methods.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { arbitrariesOf, arbitraryOf } from './arbitrary.ts'
import { corpus } from './corpus.ts'
import { complaintsAbout } from './judged.ts'
import { officialOf } from './official.ts'

describe.each(REVISIONS)('%s', (revision) => {
  const official = officialOf(revision)

  test('every method of the revision has examples of each of its messages [S0-0.2]', () => {
    const examples = corpus(revision)
    for (const [method, row] of Object.entries(METHODS)) {
      if (!isMethodAt(row, revision)) continue
      const kinds = new Set(
        examples.filter((example) => example.method === method).map((example) => example.kind),
      )
      expect([method, kinds]).toEqual([
        method,
        new Set(row.kind === 'request' ? ['request', 'result'] : ['notification']),
      ])
    }
  })

  test('no example belongs to a method that the revision does not know', () => {
    const strangers = corpus(revision).filter(({ method }) => {
      const row = methodRow(method)
      return row === undefined ? !method.includes('tasks/') : !isMethodAt(row, revision)
    })
    expect(strangers).toEqual([])
  })

  test('every message type has an arbitrary', () => {
    const generated = new Set(arbitrariesOf(revision).map(({ kind, method }) => `${kind} ${method}`))
    expect(generated).toEqual(new Set(corpus(revision).map(({ kind, method }) => `${kind} ${method}`)))
  })

  test('every example is valid by the official schema [S0-0.2]', () => {
    expect(corpus(revision).flatMap((example) => complaintsAbout(example, revision, official))).toEqual([])
  })

  test('every generated message is valid by the official schema and survives JSON', () => {
    fc.assert(
      fc.property(arbitraryOf(revision), (example) => {
        expect(complaintsAbout(example, revision, official)).toEqual([])
        expect(JSON.parse(JSON.stringify(example.value))).toEqual(example.value)
      }),
      { numRuns: 300 },
    )
  })
})
