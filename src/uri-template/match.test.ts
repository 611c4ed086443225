import { describe, expect, test } from 'vitest'
import { parseTemplate } from './parse.ts'
import { match, type Matched } from './match.ts'

type Row = readonly [template: string, uri: string, values: Matched | undefined]

// oxfmt-ignore
const ROWS: Readonly<Record<string, readonly Row[]>> = {
  'text without variables matches itself': [
    ['config://app', 'config://app', {}],
    ['config://app', 'config://app/', undefined],
    ['config://app', 'config://ap', undefined],
    ['', '', {}],
    ['', 'a', undefined],
  ],
  'a plain variable takes one or more characters, up to the next literal [S2-3.7-2]': [
    ['weather://city/{city}/forecast', 'weather://city/Z%C3%BCrich/forecast', { city: 'Zürich' }],
    ['weather://city/{city}/forecast', 'weather://city//forecast', undefined],
    ['weather://city/{city}/forecast', 'weather://city/a/b/forecast', undefined],
    ['weather://city/{city}/forecast', 'weather://city/a%2Fb/forecast', { city: 'a/b' }],
    ['a://{x}-{y}', 'a://1-2-3', { x: '1', y: '2-3' }],
    ['a://{x,y}', 'a://1,2', { x: '1', y: '2' }],
    ['a://{x,y}', 'a://1', undefined],
    ['a://{x}{y}', 'a://%F0%9F%98%80b', { x: '😀', y: 'b' }],
    ['a://{x}', 'a://b@c', undefined],
    ['a://{x*}', 'a://1,2,3', { x: ['1', '2', '3'] }],
    ['a://{x*,y}', 'a://1,2,3', { x: ['1', '2'], y: '3' }],
  ],
  'a reserved variable takes anything': [
    ['orders://{id}/lines/{+path}', 'orders://7/lines/a/b%20c?d#e', { id: '7', path: 'a/b c?d#e' }],
    ['file:///{+path}', 'file:///', undefined],
    ['a://{+dir}/{name}', 'a://b/c/d', { dir: 'b/c', name: 'd' }],
    ['a://{+x}/{+y}', 'a://1/2/3', { x: '1', y: '2/3' }],
    ['a://{+x}{?q}', 'a://b/c?q=1', { x: 'b/c', q: '1' }],
    ['a://{+x}{?q}', 'a://b/c?z=1', { x: 'b/c?z=1' }],
    ['a://{+x*}', 'a://b/c,d', { x: ['b/c', 'd'] }],
  ],
  'segments, labels and fragments may be absent': [
    ['a://b{/x,y}', 'a://b/1/2', { x: '1', y: '2' }],
    ['a://b{/x,y}', 'a://b/1', { x: '1' }],
    ['a://b{/x,y}', 'a://b', {}],
    ['a://b{/x}', 'a://b/', { x: '' }],
    ['a://b{/x*}', 'a://b/1/2/3', { x: ['1', '2', '3'] }],
    ['a://b{/x*}', 'a://b//1/', { x: ['', '1', ''] }],
    ['a://b{/x*}', 'a://b', { x: [] }],
    ['a://b{/x*,y}', 'a://b/1/2/3', { x: ['1', '2'], y: '3' }],
    ['a://b{/x*,y}', 'a://b/1', { x: [], y: '1' }],
    ['a://b{/x}{/y*}', 'a://b/1', { x: '1', y: [] }],
    ['a://b{/x*}/end', 'a://b/1/end/end', { x: ['1', 'end'] }],
    ['a://b{/x*}.json', 'a://b/1/2.json', { x: ['1', '2'] }],
    ['a://{name}{.ext}', 'a://b.tar.gz', { name: 'b', ext: 'tar.gz' }],
    ['a://{name}{.ext*}', 'a://b.tar.gz', { name: 'b', ext: ['tar', 'gz'] }],
    ['a://{name}{.ext}', 'a://b', { name: 'b' }],
    ['a://b{#f}', 'a://b#c/d?e', { f: 'c/d?e' }],
    ['a://b{#f}', 'a://b', {}],
    ['a://b{#f,g}', 'a://b#1,2', { f: '1', g: '2' }],
    ['a://b{#f*}', 'a://b#1,2', { f: ['1', '2'] }],
  ],
  'named values come in any order, may be absent, and are refused when unknown or doubled': [
    ['a://b{?q,page}', 'a://b?q=1&page=2', { q: '1', page: '2' }],
    ['a://b{?q,page}', 'a://b?page=2&q=1', { q: '1', page: '2' }],
    ['a://b{?q,page}', 'a://b?page=2', { page: '2' }],
    ['a://b{?q,page}', 'a://b', {}],
    ['a://b{?q,page}', 'a://b?q=&page', { q: '', page: '' }],
    ['a://b{?q}', 'a://b?q=x%26y%3D1+2', { q: 'x&y=1+2' }],
    ['a://b{?q}', 'a://b?q=c:/d?e=f', { q: 'c:/d?e=f' }],
    ['a://b{?q}', 'a://b?q=1&z=2', undefined],
    ['a://b{?q}', 'a://b?qq=1', undefined],
    ['a://b{?q}', 'a://b?', undefined],
    ['a://b{?q}', 'a://b?q=1&', undefined],
    ['a://b{?q}', 'a://b?q=1&q=2', undefined],
    ['a://b{?q*}', 'a://b?q=1&q=2', { q: ['1', '2'] }],
    ['a://b{?q*,p}', 'a://b?q=1&p=3&q=2', { q: ['1', '2'], p: '3' }],
    ['a://b{?q*}', 'a://b', { q: [] }],
    ['a://b{?q,qq}', 'a://b?qq=1&q=2', { q: '2', qq: '1' }],
    ['a://b?fixed=yes{&x,y}{#f}', 'a://b?fixed=yes&y=1#top', { y: '1', f: 'top' }],
    ['a://b{;x,y}/c', 'a://b;y=1;x/c', { x: '', y: '1' }],
    ['a://b{;x*}', 'a://b;x=1;x=2', { x: ['1', '2'] }],
    ['a://b{;x}', 'a://b;z=1', undefined],
    ['a://b{?a.b}', 'a://b?a.b=1', { 'a.b': '1' }],
  ],
  'a prefix limits a value in code points': [
    ['a://{x:2}', 'a://%F0%9F%98%80b', { x: '😀b' }],
    ['a://{x:2}', 'a://abc', undefined],
    ['a://{x}-{y:1}', 'a://1-2-3', { x: '1-2', y: '3' }],
    ['a://b{/x:2}', 'a://b/abc', undefined],
    ['a://b{/x:2}', 'a://b/ab', { x: 'ab' }],
    ['a://b{?x:2}', 'a://b?x=abc', undefined],
    ['a://b{?x:2}', 'a://b?x=ab', { x: 'ab' }],
  ],
  'encoded and plain forms of a character that needs no encoding are the same': [
    ['a://b-{x}', 'a://%62%2d%7e', { x: '~' }],
    ['caf\u00e9://{x}', 'caf%c3%a9://1', { x: '1' }],
    ['a://{x}%2fb', 'a://1%2Fb', { x: '1' }],
    ['a://{x}/b', 'a://1%2Fb', undefined],
    ['a://b{?x}', 'a://b%3Fx=1', undefined],
  ],
  'a URI with bad characters, triplets or UTF-8 matches nothing [R177]': [
    ['a://{+x}', 'a://b c', undefined],
    ['a://{+x}', 'a://é', undefined],
    ['a://{+x}', 'a://\u0000', undefined],
    ['a://{+x}', 'a://b\\c', undefined],
    ['a://{+x}', 'a://\ud800', undefined],
    ['a://{+x}', 'a://%', undefined],
    ['a://{+x}', 'a://%4', undefined],
    ['a://{+x}', 'a://%zz', undefined],
    ['a://{+x}', 'a://%+1', undefined],
    ['a://{+x}', 'a://%80', undefined],
    ['a://{+x}', 'a://%C3', undefined],
    ['a://{+x}', 'a://%C3b', undefined],
    ['a://{+x}', 'a://%C3%28', undefined],
    ['a://{+x}', 'a://%C0%AF', undefined],
    ['a://{+x}', 'a://%C1%BF', undefined],
    ['a://{+x}', 'a://%E0%80%AF', undefined],
    ['a://{+x}', 'a://%ED%A0%80', undefined],
    ['a://{+x}', 'a://%F0%80%80%AF', undefined],
    ['a://{+x}', 'a://%F4%90%80%80', undefined],
    ['a://{+x}', 'a://%FF', undefined],
    ['a://%FF{x}', 'a://%FFb', undefined],
  ],
}

describe.each(Object.entries(ROWS))('%s', (_, rows) => {
  test.each(rows)('%s against %s', (text, uri, values) => {
    const matched = match(parseTemplate(text), uri)
    expect(matched && { ...matched }).toEqual(values)
  })
})

describe('matching', () => {
  test('gives values that inherit nothing, whatever the names', () => {
    const matched = match(parseTemplate('a://{constructor}{?__proto__,toString}'), 'a://b?__proto__=1')
    expect(Object.getPrototypeOf(matched)).toBe(null)
    expect(Object.entries(matched ?? {})).toEqual([
      ['constructor', 'b'],
      ['__proto__', '1'],
    ])
  })

  test('reads a URI of 8 KiB and refuses a longer one [M.uri-redos]', () => {
    const template = parseTemplate('a://{+x}')
    expect(match(template, `a://${'b'.repeat(8188)}`)).toEqual({ x: 'b'.repeat(8188) })
    expect(match(template, `a://${'b'.repeat(8189)}`)).toBe(undefined)
  })

  test('wants the places of a repeated variable to agree', () => {
    const hashed = parseTemplate('a:/{/x:1,x}', { repeats: true })
    expect(match(hashed, 'a://v/value')).toEqual({ x: 'value' })
    expect(match(hashed, 'a://w/value')).toBe(undefined)
    const lists = parseTemplate('a:/{/x*}{?x*}', { repeats: true })
    expect(match(lists, 'a://1/2?x=1&x=2')).toEqual({ x: ['1', '2'] })
    expect(match(lists, 'a://1/2?x=1')).toBe(undefined)
    const mixed = parseTemplate('a://{x}{?x*}', { repeats: true })
    expect(match(mixed, 'a://1?x=1')).toBe(undefined)
  })
})
