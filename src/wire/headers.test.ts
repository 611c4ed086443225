import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeHeaderValue } from './header-value.ts'
import { checkRequestHeaders, decodeHeaderValue, type HeaderLookup } from './headers.ts'

const lookup =
  (headers: Readonly<Record<string, string>>): HeaderLookup =>
  (name) =>
    new Map(Object.entries(headers)).get(name)

describe('values', () => {
  test('a safe text is sent unchanged', () => {
    for (const text of ['echo', 'file:///a b/c', 'a?=b', '=?base64?', '?=', '~!"#']) {
      expect(encodeHeaderValue(text)).toBe(text)
      expect(decodeHeaderValue(text)).toBe(text)
    }
  })

  test('an unsafe text travels as base64 of UTF-8 [R116]', () => {
    expect(encodeHeaderValue('grüße')).toBe('=?base64?Z3LDvMOfZQ==?=')
    for (const text of [
      '世界 😀',
      ' a',
      'a ',
      '\ta',
      'a\t',
      'a\tb',
      'a\r\nX-Evil: 1',
      '\0',
      '',
      '\x7f',
      '\u00a0',
    ]) {
      expect(encodeHeaderValue(text)).toMatch(/^=\?base64\?[A-Za-z0-9+/]*={0,2}\?=$/)
      expect(decodeHeaderValue(encodeHeaderValue(text))).toBe(text)
    }
  })

  test('a text that looks encoded is encoded [R117]', () => {
    for (const text of ['=?base64?literal?=', '=?base64??=', '=?base64?=']) {
      expect(encodeHeaderValue(text)).not.toBe(text)
      expect(decodeHeaderValue(encodeHeaderValue(text))).toBe(text)
    }
  })

  test('surrounding white space is not part of a value [R115]', () => {
    expect(decodeHeaderValue(' \t echo \t')).toBe('echo')
    expect(decodeHeaderValue(' =?base64?YQ==?= ')).toBe('a')
  })

  test('the marker is case-sensitive', () => {
    expect(decodeHeaderValue('=?BASE64?YQ==?=')).toBe('=?BASE64?YQ==?=')
  })

  test('broken encodings are refused [R116]', () => {
    for (const inner of [
      'YQ',
      'YQ=',
      'Y',
      'YR==',
      'Y Q==',
      'YQ==\t',
      'YQ-_',
      '=',
      '/w==',
      '7aCA',
      '!!!!',
      'YQ==YQ==',
    ]) {
      expect(decodeHeaderValue(`=?base64?${inner}?=`)).toBeUndefined()
    }
    for (const raw of ['gr\u00fc\u00dfe', 'a\0', 'a\nb', '\u00a0a'])
      expect(decodeHeaderValue(raw)).toBeUndefined()
  })

  test('very much white space takes no time', () => {
    expect(decodeHeaderValue(`a${' '.repeat(200_000)}b`)).toHaveLength(200_002)
  })

  test('every text survives the way there and back [R116] [R117]', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string().map((any) => `=?base64?${any}?=`),
    )
    fc.assert(
      fc.property(text, (any) => {
        const encoded = encodeHeaderValue(any)
        expect(encoded).toMatch(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/)
        expect(decodeHeaderValue(encoded)).toBe(any)
      }),
    )
  })
})

describe('the standard headers', () => {
  const right = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' }
  const body = { version: '2026-07-28', method: 'tools/call', name: 'echo' }

  test('headers that repeat the body are accepted', () => {
    expect(checkRequestHeaders({ ...body, header: lookup(right) })).toBeUndefined()
  })

  test.each([
    ['mcp-protocol-version', 'MCP-Protocol-Version'],
    ['mcp-method', 'Mcp-Method'],
    ['mcp-name', 'Mcp-Name'],
  ])('%s may be neither missing nor different [R114] [R115]', (key, header) => {
    const { [key as 'mcp-name']: value, ...others } = right
    expect(checkRequestHeaders({ ...body, header: lookup(others) })).toEqual({ header, reason: 'is missing' })
    for (const other of [
      '',
      'x',
      value.toUpperCase() + '!',
      `${value}, ${value}`,
      value.replace(/[a-z0-9]/, 'Z'),
    ]) {
      const headers = { ...others, [key]: other }
      expect(checkRequestHeaders({ ...body, header: lookup(headers) })).toEqual({
        header,
        reason: 'differs from the body',
      })
    }
    expect(
      checkRequestHeaders({ ...body, header: lookup({ ...others, [key]: `\t ${value} ` }) }),
    ).toBeUndefined()
  })

  test('Mcp-Name is decoded before it is compared [R116]', () => {
    const named = (name: string, value: string): unknown =>
      checkRequestHeaders({ ...body, name, header: lookup({ ...right, 'mcp-name': value }) })
    expect(named('grüße', '=?base64?Z3LDvMOfZQ==?=')).toBeUndefined()
    expect(named('echo', '=?base64?ZWNobw==?=')).toBeUndefined()
    expect(named('=?base64?ZWNobw==?=', '=?base64?ZWNobw==?=')).toMatchObject({
      reason: 'differs from the body',
    })
    expect(named('grüße', 'grüße')).toMatchObject({ reason: expect.stringContaining('=?base64?') })
    expect(named('echo', '=?base64?ZWNobw?=')).toMatchObject({ reason: expect.stringContaining('=?base64?') })
    expect(named('', '=?base64??=')).toBeUndefined()
  })

  test('Mcp-Name on a method that has no name is refused', () => {
    const list = { version: '2026-07-28', method: 'tools/list' }
    const headers = { ...right, 'mcp-method': 'tools/list' }
    expect(checkRequestHeaders({ ...list, header: lookup(headers) })).toEqual({
      header: 'Mcp-Name',
      reason: 'does not belong to this method',
    })
    const { 'mcp-name': _, ...without } = headers
    expect(checkRequestHeaders({ ...list, header: lookup(without) })).toBeUndefined()
  })
})
