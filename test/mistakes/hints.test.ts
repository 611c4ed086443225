import { expect, test } from 'vitest'
import { allErrors } from '../../src/errors/all.ts'

test('every hint names something to do, rather than to correct whatever is wrong', () => {
  const empty = [...allErrors().values()].filter(
    ({ hint }) => /^(Correct|Fix|Check|Change) the \w+\.$/.test(hint) || hint.split(' ').length < 3,
  )
  expect(empty.map(({ kind, hint }) => [kind, hint])).toEqual([])
})
