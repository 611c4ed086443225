import { expect, test } from 'vitest'
import { META } from '../../protocol/meta.ts'
import { encodeText } from './encode.ts'

const INFO = '{"name":"own","version":"1"}'

test('a _meta that is not an object is omitted from the result', () => {
  for (const _meta of [null, [], ['x'], 3, 'x', true]) {
    const sealed: unknown = JSON.parse(encodeText({ content: [], _meta }, INFO, false))
    expect(sealed).toEqual({
      resultType: 'complete',
      _meta: { [META.serverInfo]: { name: 'own', version: '1' } },
      content: [],
    })
  }
})

test('a result names its server once, whatever its own _meta says', () => {
  const text = encodeText({ _meta: { [META.serverInfo]: { name: 'other' }, note: 1 } }, INFO, false)
  expect(text.split(META.serverInfo)).toHaveLength(2)
  expect(JSON.parse(text)).toMatchObject({ _meta: { [META.serverInfo]: { name: 'own' }, note: 1 } })
})
