import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTemplate } from './parse.ts'
import { expand, type TemplateValues } from './expand.ts'

const VALUES: TemplateValues = {
  count: ['one', 'two', 'three'],
  dom: ['example', 'com'],
  dub: 'me/too',
  hello: 'Hello World!',
  half: '50%',
  var: 'value',
  who: 'fred',
  base: 'http://example.com/home/',
  path: '/foo/bar',
  list: ['red', 'green', 'blue'],
  keys: { semi: ';', dot: '.', comma: ',' },
  v: '6',
  x: '1024',
  y: '768',
  empty: '',
  empty_keys: {},
  undef: null,
}

// The examples of RFC 6570 by section: template, expansion.
// oxfmt-ignore
const EXAMPLES: Readonly<Record<string, readonly (readonly [template: string, uri: string])[]>> = {
  '1.2 level 1': [
    ['{var}', 'value'], ['{hello}', 'Hello%20World%21'],
  ],
  '1.2 level 2': [
    ['{+var}', 'value'], ['{+hello}', 'Hello%20World!'], ['{+path}/here', '/foo/bar/here'], ['here?ref={+path}', 'here?ref=/foo/bar'],
    ['X{#var}', 'X#value'], ['X{#hello}', 'X#Hello%20World!'],
  ],
  '1.2 level 3': [
    ['map?{x,y}', 'map?1024,768'], ['{x,hello,y}', '1024,Hello%20World%21,768'],
    ['{+x,hello,y}', '1024,Hello%20World!,768'], ['{+path,x}/here', '/foo/bar,1024/here'],
    ['{#x,hello,y}', '#1024,Hello%20World!,768'], ['{#path,x}/here', '#/foo/bar,1024/here'],
    ['X{.var}', 'X.value'], ['X{.x,y}', 'X.1024.768'], ['{/var}', '/value'], ['{/var,x}/here', '/value/1024/here'],
    ['{;x,y}', ';x=1024;y=768'], ['{;x,y,empty}', ';x=1024;y=768;empty'],
    ['{?x,y}', '?x=1024&y=768'], ['{?x,y,empty}', '?x=1024&y=768&empty='],
    ['?fixed=yes{&x}', '?fixed=yes&x=1024'], ['{&x,y,empty}', '&x=1024&y=768&empty='],
  ],
  '1.2 level 4': [
    ['{var:3}', 'val'], ['{var:30}', 'value'], ['{list}', 'red,green,blue'], ['{list*}', 'red,green,blue'],
    ['{keys}', 'semi,%3B,dot,.,comma,%2C'], ['{keys*}', 'semi=%3B,dot=.,comma=%2C'],
    ['{+path:6}/here', '/foo/b/here'], ['{+list}', 'red,green,blue'], ['{+list*}', 'red,green,blue'],
    ['{+keys}', 'semi,;,dot,.,comma,,'], ['{+keys*}', 'semi=;,dot=.,comma=,'],
    ['{#path:6}/here', '#/foo/b/here'], ['{#list}', '#red,green,blue'], ['{#list*}', '#red,green,blue'],
    ['{#keys}', '#semi,;,dot,.,comma,,'], ['{#keys*}', '#semi=;,dot=.,comma=,'],
    ['X{.var:3}', 'X.val'], ['X{.list}', 'X.red,green,blue'], ['X{.list*}', 'X.red.green.blue'],
    ['X{.keys}', 'X.semi,%3B,dot,.,comma,%2C'], ['X{.keys*}', 'X.semi=%3B.dot=..comma=%2C'],
    ['{/var:1,var}', '/v/value'], ['{/list}', '/red,green,blue'], ['{/list*}', '/red/green/blue'],
    ['{/list*,path:4}', '/red/green/blue/%2Ffoo'], ['{/keys}', '/semi,%3B,dot,.,comma,%2C'], ['{/keys*}', '/semi=%3B/dot=./comma=%2C'],
    ['{;hello:5}', ';hello=Hello'], ['{;list}', ';list=red,green,blue'], ['{;list*}', ';list=red;list=green;list=blue'],
    ['{;keys}', ';keys=semi,%3B,dot,.,comma,%2C'], ['{;keys*}', ';semi=%3B;dot=.;comma=%2C'],
    ['{?var:3}', '?var=val'], ['{?list}', '?list=red,green,blue'], ['{?list*}', '?list=red&list=green&list=blue'],
    ['{?keys}', '?keys=semi,%3B,dot,.,comma,%2C'], ['{?keys*}', '?semi=%3B&dot=.&comma=%2C'],
    ['{&var:3}', '&var=val'], ['{&list}', '&list=red,green,blue'], ['{&list*}', '&list=red&list=green&list=blue'],
    ['{&keys}', '&keys=semi,%3B,dot,.,comma,%2C'], ['{&keys*}', '&semi=%3B&dot=.&comma=%2C'],
  ],
  '3.2.1': [
    ['{count}', 'one,two,three'], ['{count*}', 'one,two,three'], ['{/count}', '/one,two,three'], ['{/count*}', '/one/two/three'],
    ['{;count}', ';count=one,two,three'], ['{;count*}', ';count=one;count=two;count=three'],
    ['{?count}', '?count=one,two,three'], ['{?count*}', '?count=one&count=two&count=three'], ['{&count*}', '&count=one&count=two&count=three'],
  ],
  '3.2.2': [
    ['{half}', '50%25'], ['O{empty}X', 'OX'], ['O{undef}X', 'OX'], ['{x,y}', '1024,768'],
    ['?{x,empty}', '?1024,'], ['?{x,undef}', '?1024'], ['?{undef,y}', '?768'],
  ],
  '3.2.3': [
    ['{+half}', '50%25'], ['{base}index', 'http%3A%2F%2Fexample.com%2Fhome%2Findex'], ['{+base}index', 'http://example.com/home/index'],
    ['O{+empty}X', 'OX'], ['O{+undef}X', 'OX'], ['up{+path}{var}/here', 'up/foo/barvalue/here'],
  ],
  '3.2.4': [['{#var}', '#value'], ['{#half}', '#50%25'], ['foo{#empty}', 'foo#'], ['foo{#undef}', 'foo']],
  '3.2.5': [
    ['{.who}', '.fred'], ['{.who,who}', '.fred.fred'], ['{.half,who}', '.50%25.fred'], ['www{.dom*}', 'www.example.com'],
    ['X{.empty}', 'X.'], ['X{.undef}', 'X'], ['X{.empty_keys}', 'X'], ['X{.empty_keys*}', 'X'],
  ],
  '3.2.6': [
    ['{/who}', '/fred'], ['{/who,who}', '/fred/fred'], ['{/half,who}', '/50%25/fred'], ['{/who,dub}', '/fred/me%2Ftoo'],
    ['{/var,empty}', '/value/'], ['{/var,undef}', '/value'],
  ],
  '3.2.7': [
    ['{;who}', ';who=fred'], ['{;half}', ';half=50%25'], ['{;empty}', ';empty'], ['{;v,empty,who}', ';v=6;empty;who=fred'],
    ['{;v,bar,who}', ';v=6;who=fred'], ['{;x,y,undef}', ';x=1024;y=768'],
  ],
  '3.2.8': [['{?who}', '?who=fred'], ['{?half}', '?half=50%25'], ['{?x,y,undef}', '?x=1024&y=768']],
  '3.2.9': [['{&who}', '&who=fred'], ['{&half}', '&half=50%25'], ['{&x,y,undef}', '&x=1024&y=768']],
}

describe.each(Object.entries(EXAMPLES))('the examples of RFC 6570 section %s [S2-3.7-2]', (_, rows) => {
  test.each(rows)('%s expands to %s', (text, uri) => {
    expect(expand(parseTemplate(text, { repeats: true }), VALUES)).toBe(uri)
  })
})

// oxfmt-ignore
const FURTHER: readonly (readonly [what: string, template: string, values: TemplateValues, uri: string])[] = [
  ['numbers and booleans are text',                    '{a}/{b}/{c}',  { a: 7, b: false, c: 9007199254740993n }, '7/false/9007199254740993'],
  ['characters beyond ASCII are UTF-8 triplets',       '{a}',          { a: 'Zürich 東京 😀' },           'Z%C3%BCrich%20%E6%9D%B1%E4%BA%AC%20%F0%9F%98%80'],
  ['literal text is encoded too',                      'café://{a}',   { a: 1 },                          'caf%C3%A9://1'],
  ['a prefix counts code points',                      '{a:2}',        { a: '😀é!' },                     '%F0%9F%98%80%C3%A9'],
  ['triplets stay under +',                            '{+a}',         { a: 'a%2Fb%zz%2' },               'a%2Fb%25zz%252'],
  ['triplets stay under #',                            '{#a}',         { a: '%c3%bc' },                   '#%c3%bc'],
  ['triplets are encoded elsewhere',                   '{a}',          { a: '%2F' },                      '%252F'],
  ['a lone surrogate becomes the replacement sign',    '{a}{+b}{/c*}', { a: '\ud800', b: 'x\udc00', c: ['\udfff'] }, '%EF%BF%BDx%EF%BF%BD/%EF%BF%BD'],
  ['a prefix does not split a surrogate pair',         '{a:1}',        { a: '😀' },                       '%F0%9F%98%80'],
  ['undefined members are left out',                   '{a}{?b*}',     { a: ['x', undefined, null, 'y'], b: { k: undefined, l: 1 } }, 'x,y?l=1'],
  ['a list of nothing is undefined',                   'x{/a}{?b*,c}', { a: [null], b: { k: null }, c: [] }, 'x'],
  ['a Map is an associative array',                    '{?a*}',        { a: new Map([['k', '1'], ['l', '']]) }, '?k=1&l='],
  ['a list of pairs is an associative array',          '{;a*}{b}',     { a: [['k', 1], ['l', '']], b: [['m', 2]] }, ';k=1;lm,2'],
  ['an empty member of a list',                        '{?a*}{;b*}',   { a: ['', 'x'], b: [''] },          '?a=&a=x;b'],
  ['a name keeps its triplets and dots',               '{?a.b,%41}',   { 'a.b': 1, '%41': 2 },             '?a.b=1&%41=2'],
  ['the key of a pair is encoded like literal text',   '{?a*}',        { a: { 'k é&': 1 } },               '?k%20%C3%A9&=1'],
]

describe('expanding', () => {
  test.each(FURTHER)('%s', (_, text, values, uri) => {
    expect(expand(parseTemplate(text), values)).toBe(uri)
  })

  test('ignores what the values inherit', () => {
    expect(expand(parseTemplate('x{/toString,__proto__,constructor}'), {})).toBe('x')
  })

  test('refuses a prefix of a list, and values that are not text, naming the variable', () => {
    expect(() => expand(parseTemplate('{a:3}'), { a: ['x'] })).toThrow('"a" is cut to 3 characters')
    const nested = { a: [{ b: 1 }] } as unknown as TemplateValues
    expect(() => expand(parseTemplate('{a}'), nested)).toThrow('value of the variable "a" cannot be expanded')
    const triple = { a: [['k', 'v', 'w']] } as unknown as TemplateValues
    expect(() => expand(parseTemplate('{a}'), triple)).toThrow('value of the variable "a" cannot be expanded')
  })

  test('never throws on text, and writes only characters of URIs [R177]', () => {
    const template = parseTemplate('{a}{+b}{#c}{.d}{/e*}{;f}{?g*}{&h}')
    const anyText = fc
      .array(fc.integer({ min: 0, max: 0xffff }))
      .map((codes) => String.fromCharCode(...codes))
    fc.assert(
      fc.property(anyText, (text) => {
        const values = {
          a: text,
          b: text,
          c: text,
          d: text,
          e: [text],
          f: text,
          g: { [text]: text },
          h: text,
        }
        expect(expand(template, values)).toMatch(/^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$/)
      }),
    )
  })
})
