import { expect, test } from 'vitest'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import { createSender, encodeCall } from './encode-call.ts'
import { NEWEST } from './forms.ts'

const CLIENT = { name: 'c', version: '1' }
const ENVELOPE = createSender(CLIENT, { roots: {} }).meta

function paramsOf(revision: Revision, params: JsonObject, wantsProgress: boolean): unknown {
  const sender = createSender(CLIENT, { roots: {} })
  const text = encodeCall({
    id: 7,
    method: 'tools/call',
    params,
    revision,
    forms: NEWEST,
    sender,
    wantsProgress,
  })
  const { params: sent, ...rest } = JSON.parse(text) as { params: unknown }
  expect(rest).toEqual({ jsonrpc: '2.0', id: 7, method: 'tools/call' })
  return sent
}

test.each([
  ['2025-11-25', false, {}],
  ['2025-11-25', true, { progressToken: 7 }],
  ['2026-07-28', false, ENVELOPE],
  ['2026-07-28', true, { progressToken: 7, ...ENVELOPE }],
] as const)(
  'at %s, with progress wanted: %s, the metadata of the client joins that of the request',
  (revision, wantsProgress, meta) => {
    const own = { 'com.example/a': 1 }
    expect(paramsOf(revision, { name: 'x', _meta: own }, wantsProgress)).toEqual({
      name: 'x',
      _meta: { ...own, ...meta },
    })
    const none = Object.keys(meta).length === 0
    expect(paramsOf(revision, { name: 'x' }, wantsProgress)).toEqual({
      name: 'x',
      ...(!none && { _meta: meta }),
    })
    expect(paramsOf(revision, {}, wantsProgress)).toEqual(none ? {} : { _meta: meta })
  },
)

test('the token and the envelope of the client win over those that a request brings', () => {
  const own = Object.fromEntries(Object.keys(ENVELOPE).map((name) => [name, 'mine']))
  expect(paramsOf('2026-07-28', { _meta: { progressToken: 'mine', ...own } }, true)).toEqual({
    _meta: { progressToken: 7, ...ENVELOPE },
  })
})
