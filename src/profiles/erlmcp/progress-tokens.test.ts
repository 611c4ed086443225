import { expect, test } from 'vitest'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import { progressTokens } from './progress-tokens.ts'

const decoded = (params: JsonObject): unknown =>
  progressTokens({ progressTokens: 'direct' } as never, undefined as never)?.decodeRequest?.({
    method: 'tools/call',
    params,
  }).params

test('a progress token among the params is read where `_meta` has none', () => {
  expect(decoded({ progressToken: 1, _meta: { other: 2 } })).toEqual({
    _meta: { other: 2, progressToken: 1 },
  })
  expect(decoded({ progressToken: 1 })).toEqual({ _meta: { progressToken: 1 } })
  expect(decoded({ progressToken: 1, _meta: { progressToken: 2 } })).toMatchObject({
    _meta: { progressToken: 2 },
  })
})

test.each(['text', 5, true, ['x']])('a `_meta` that is %j stays as it is, to be rejected', (meta) => {
  expect(decoded({ progressToken: 1, _meta: meta })).toEqual({ progressToken: 1, _meta: meta })
})
