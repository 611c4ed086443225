import { expect, test } from 'vitest'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import { META } from '../../protocol/meta.ts'
import { REVISIONS } from '../../protocol/revisions.ts'
import { DIALECTS } from '../../protocol/switches.ts'
import { decodeEnvelope, hasEnvelope } from './decode.ts'
import { decodeResult } from './decode-result.ts'

const META_2026 = { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: { roots: {} } }
const CLIENT = { name: 'a', version: '1' }

function decode(meta: JsonObject, revisions: readonly string[] = REVISIONS): unknown {
  return decodeEnvelope({ _meta: meta }, { revisions, dialects: DIALECTS })
}

test('the metadata of a request tells who sent it', () => {
  const dialect = DIALECTS['2026-07-28']
  const told = { dialect, capabilities: { roots: {} }, session: undefined }
  expect(decode(META_2026)).toEqual({ ...told, client: undefined })
  expect(decode({ ...META_2026, [META.clientInfo]: CLIENT })).toEqual({ ...told, client: CLIENT })
})

test.each<readonly [JsonObject, string]>([
  [{ [META.protocolVersion]: 5 }, META.protocolVersion],
  [{ [META.clientCapabilities]: undefined }, META.clientCapabilities],
  [{ [META.clientCapabilities]: [] }, META.clientCapabilities],
  [{ [META.clientInfo]: null }, META.clientInfo],
  [{ [META.clientInfo]: { name: 'a' } }, META.clientInfo],
  [{ [META.clientInfo]: { name: 5, version: '1' } }, META.clientInfo],
])('metadata with %o is refused, and says where it is wrong', (wrong, named) => {
  const refused = { kind: 'bad_envelope', message: expect.stringContaining(named) }
  expect(() => decode({ ...META_2026, ...wrong })).toThrow(expect.objectContaining(refused))
})

test.each([
  ['2025-11-25', REVISIONS, ['2026-07-28']],
  ['2027-01-01', REVISIONS, ['2026-07-28']],
  ['2026-07-28', ['2025-06-18'], ['2025-06-18']],
])('a request that claims %s from a server of %o is told of %o', (version, served, supported) => {
  const refused = { kind: 'revision_unsupported', data: { supported, requested: version } }
  const claim = (): unknown => decode({ ...META_2026, [META.protocolVersion]: version }, served)
  expect(claim).toThrow(expect.objectContaining(refused))
})

test('a version that is refused is repeated up to 64 characters', () => {
  const [most, longer] = ['v'.repeat(64), `${'v'.repeat(64)}w`]
  for (const version of [most, longer]) {
    const refused = { data: { supported: ['2026-07-28'], requested: most } }
    const claim = (): unknown => decode({ ...META_2026, [META.protocolVersion]: version })
    expect(claim).toThrow(expect.objectContaining(refused))
    expect(claim).toThrow(/[^v]v{64}(?!w)/)
  }
})

test.each([
  [undefined, false],
  [null, false],
  [{}, false],
  [{ _meta: {} }, false],
  [{ _meta: null }, false],
  [{ _meta: [] }, false],
  [{ _meta: { [META.clientInfo]: CLIENT } }, false],
  [{ _meta: { [META.protocolVersion]: 5 } }, true],
  [{ _meta: { [META.clientCapabilities]: 5 } }, true],
])('params of %o claim to carry metadata: %s', (params, has) => {
  expect(hasEnvelope(params as JsonObject)).toBe(has)
})

test('what is wrapped around results is taken off, and nothing else', () => {
  const own = { 'a.example/b': 1 }
  expect(decodeResult({ a: 1, resultType: 'complete', _meta: { [META.serverInfo]: CLIENT } })).toEqual({
    a: 1,
  })
  expect(decodeResult({ a: 1, resultType: 'other', _meta: own })).toEqual({
    a: 1,
    resultType: 'other',
    _meta: own,
  })
})
