import { expect, test } from 'vitest'
import { allErrors } from './all.ts'
import { McpError } from './error.ts'
import { fromErrorObject } from './remote.ts'
import { whereOf } from './where.ts'

allErrors()

test.each([-32_769, -31_999, -1, 0, 1, 404, 1000, 1100, Number.MAX_SAFE_INTEGER])(
  'an error of one’s own may have the code %d',
  (code) => {
    const error = new McpError('custom', 'sold out', { code, data: { left: 0 } })
    expect(error).toMatchObject({
      kind: 'custom',
      code,
      message: 'sold out',
      data: { left: 0 },
      retryable: false,
    })
    expect([error.refusal, whereOf(error)]).toEqual([undefined, undefined])
  },
)

test.each<[unknown, string]>([
  [-32_768, '-32768 is not'],
  [-32_603, '-32603 is not'],
  [-32_000, '-32000 is not'],
  [1001, '1001 is not'],
  [1099, '1099 is not'],
  [1.5, '1.5 is not'],
  [Number.NaN, 'NaN is not'],
  [Infinity, 'Infinity is not'],
  [2 ** 53, '9007199254740992 is not'],
  ['404', '404 is not'],
  [undefined, 'it is missing'],
])('%s is not a code for one', (code, words) => {
  const create = (): McpError => new McpError('custom', 'sold out', { code: code as number })
  expect(create).toThrow(
    /^McpError: an error of kind 'custom' needs a code: a whole number, not from -32768 to -32000 /,
  )
  expect(create).toThrow(words)
})

test('a client reads every other code as custom, and a handler that used the client does not pass it on', () => {
  const read = fromErrorObject({ code: 4009, message: 'sold out', data: { left: 0 } })
  expect(read).toMatchObject({
    kind: 'custom',
    code: 4009,
    data: { left: 0 },
    hint: expect.stringMatching(/code/) as string,
  })
  expect(whereOf(read)).toBe('local')
  expect(fromErrorObject({ code: 1.5, message: 'odd' }).kind).toBe('remote')
})
