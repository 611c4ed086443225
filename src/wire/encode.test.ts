import { expect, test } from 'vitest'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { REVISIONS } from '../protocol/revisions.ts'
import { DIALECTS } from '../protocol/switches.ts'
import { encodeResult } from './encode.ts'

test.each(REVISIONS)('only objects are written as a result of %s', (revision) => {
  for (const method of ['tools/list', 'tools/call']) {
    for (const result of [undefined, null, [], [1], 'x', 3]) {
      const seal = (): unknown =>
        encodeResult(method, result as unknown as JsonObject, DIALECTS[revision], {})
      expect(seal).toThrow(`the result of ${method} is not an object`)
    }
  }
})
