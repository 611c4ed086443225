import { expect, test } from 'vitest'
import { provePattern, toMatcher } from './pattern.ts'
import { startCounting } from './work.ts'

/** Patterns as tools use them, each with a text that matches and one that does not. */
// oxfmt-ignore
const EVERYDAY: readonly (readonly [what: string, source: string, fits: string, not: string])[] = [
  ['an e-mail address, in short', '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$', 'ada@example.org', 'ada at example'],
  ['an e-mail address', '^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}$', 'ada@example.org', 'ada@'],
  ['an e-mail address, as browsers check it', "^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$", 'ada+x@mail.example.org', 'ada@-'],
  ['a UUID', '^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$', '123e4567-e89b-12d3-a456-426614174000', '123e4567'],
  ['a UUID in either case', '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$', '123E4567-E89B-12D3-A456-426614174000', 'x'],
  ['a date', '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$', '2026-07-28', '2026-13-01'],
  ['a time', '^([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d)?$', '23:59:59', '24:00'],
  ['a date and time', '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:Z|[+-]\\d{2}:\\d{2})$', '2026-07-28T10:00:00.5Z', '2026-07-28'],
  ['a duration', '^P(?!$)(\\d+Y)?(\\d+M)?(\\d+W)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+S)?)?$', 'P1DT2H', 'P'],
  ['a short duration', '^\\d+(?:ms|s|m|h|d)$', '30s', 's'],
  ['a version', '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$', '1.2.3-rc.1+5', '1.2'],
  ['a version in short', '^v?\\d+\\.\\d+(\\.\\d+)?$', 'v1.2.3', '1'],
  ['a slug', '^[a-z0-9]+(?:-[a-z0-9]+)*$', 'second-look-12', 'a--b'],
  ['a slug with underscores', '^[a-z][a-z0-9_-]{0,62}$', 'a_b-c', '1a'],
  ['an identifier', '^[A-Za-z_$][\\w$]*$', '_name1', '1name'],
  ['a dotted name', '^[a-zA-Z_]\\w*(\\.[a-zA-Z_]\\w*)*$', 'a.b.c1', 'a..b'],
  ['a constant', '^[A-Z][A-Z0-9_]*$', 'MAX_SIZE', 'a'],
  ['an IPv4 address', '^(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?!$)|$)){4}$', '192.168.0.1', '1.2.3'],
  ['an IPv4 address, loosely', '^\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}$', '10.0.0.1', '10.0.0'],
  ['an IPv4 network', '^([0-9]{1,3}\\.){3}[0-9]{1,3}\\/([0-9]|[12][0-9]|3[0-2])$', '10.0.0.0/8', '10.0.0.0/33'],
  ['an IPv6 address', '^(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}$', '1:2:3:4:5:6:7:8', '::1'],
  ['a host name', '^(?=.{1,253}$)(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\\.)+[a-zA-Z]{2,63}$', 'mail.example.org', '-.org'],
  ['a URL', '^https?:\\/\\/[^\\s/$.?#].[^\\s]*$', 'https://example.org/a', 'ftp://x'],
  ['a URL, in parts', '^https?:\\/\\/(?:www\\.)?[-a-zA-Z0-9@:%._+~#=]{1,256}\\.[a-zA-Z0-9()]{1,6}\\b(?:[-a-zA-Z0-9()@:%_+.~#?&/=]*)$', 'https://www.example.org/a?b=c', 'x'],
  ['the beginning of a URL', '^(https?|wss?)://', 'wss://a', 'a'],
  ['a repository', '^[A-Za-z0-9_.-]+\\/[A-Za-z0-9_.-]+$', 'owner/name.js', 'name'],
  ['a package', '^(?:@[a-z0-9-~][a-z0-9-._~]*/)?[a-z0-9-~][a-z0-9-._~]*$', '@scope/name', 'A'],
  ['a commit', '\\b[0-9a-f]{7,40}\\b', '6e5b13d', 'g'],
  ['a hash', '^sha256:[a-f0-9]{64}$', `sha256:${'a'.repeat(64)}`, 'sha256:'],
  ['a color', '^#(?:[0-9a-fA-F]{3}){1,2}$', '#a1b2c3', '#a'],
  ['a phone number', '^\\+[1-9]\\d{1,14}$', '+4915112345678', '0'],
  ['a phone number with signs', '^\\+?\\d{1,4}?[-.\\s]?\\(?\\d{1,3}\\)?[-.\\s]?\\d{1,4}[-.\\s]?\\d{1,4}[-.\\s]?\\d{1,9}$', '+1 (555) 123-4567', 'x'],
  ['a language', '^[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|\\d{3}))?$', 'zh-Hant-TW', 'english'],
  ['a currency', '^[A-Z]{3}$', 'EUR', 'eur'],
  ['a country', '^(?:AT|BE|BG|CH|CY|CZ|DE|DK|EE|ES|FI|FR|GB|GR|HR|HU|IE|IS|IT|LI|LT|LU|LV|MT|NL|NO|PL|PT|RO|SE|SI|SK)$', 'DE', 'XX'],
  ['an amount', '^-?(?:0|[1-9]\\d*)(?:\\.\\d{1,2})?$', '-12.50', '01'],
  ['an amount with separators', '^\\$?\\d{1,3}(,\\d{3})*(\\.\\d{2})?$', '$1,234,567.00', '1,23'],
  ['a number', '^[-+]?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?$', '1.5e-3', 'e'],
  ['base64', '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$', 'aGk=', 'a'],
  ['base64 in captured groups', '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?$', 'aGk=', 'a'],
  ['an image', '^data:image\\/(png|jpeg|gif);base64,[A-Za-z0-9+/]+={0,2}$', 'data:image/png;base64,aGk=', 'data:'],
  ['a token', '^[A-Za-z0-9-_]+\\.[A-Za-z0-9-_]+\\.[A-Za-z0-9-_]*$', 'a.b.c', 'a'],
  ['a path', '^(?:/[^/\\0]+)+/?$', '/usr/local/lib', 'usr'],
  ['a path without dots', '^(?!.*\\.\\.)[\\w./-]+$', 'a/b.txt', '../a'],
  ['a file name', '^[^<>:"/\\\\|?*]+\\.(?:png|jpe?g|gif|webp)$', 'a b.jpeg', 'a.txt'],
  ['a bucket', '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$', 'my-bucket.1', '-a'],
  ['a resource of a cloud', '^arn:(?:aws|aws-cn):[a-z0-9-]+:[a-z0-9-]*:(?:\\d{12})?:.+$', 'arn:aws:s3:::bucket/key', 'arn:'],
  ['a schedule', '^(\\S+\\s+){4}\\S+$', '*/5 * * * 1', '* *'],
  ['a password', '^(?=.*[a-z])(?=.*[A-Z])(?=.*\\d)(?=.*[^\\w\\s]).{8,64}$', 'Abcdef1!', 'abc'],
  ['text that is not blank', '\\S', ' a ', '  '],
  ['text that is not blank, anchored', '^(?!\\s*$).+', ' a', '  '],
  ['a trimmed text', '^\\S(?:.*\\S)?$', 'a b', ' a'],
  ['a name of a person', "^[\\p{L}][\\p{L}\\p{M}' .-]*$", 'Zoë O’'.slice(0, 3), '1'],
  ['words', '^\\w+(?: \\w+)*$', 'a few words', 'a  b'],
  ['a hashtag', '^#\\w+$', '#tag', 'tag'],
  ['a channel', '^[CGD][A-Z0-9]{8,}$', 'C12345678', 'X'],
  ['a MAC address', '^([0-9A-Fa-f]{2}[:-]){5}([0-9A-Fa-f]{2})$', '00:1a:2B:3c:4d:5e', '00'],
  ['an extension', '^x-', 'x-header', 'y'],
  ['a query', '^(?:[^=&]+=[^&]*)(?:&[^=&]+=[^&]*)*$', 'a=1&b=2', 'a'],
  ['an escaped string', '^"(?:[^"\\\\]|\\\\.)*"$', '"a\\"b"', '"a'],
]

test.each(EVERYDAY)('%s is matched, also in a text of 1000 characters', (_, source, fits, not) => {
  const verdict = provePattern(source)
  expect(verdict).not.toHaveProperty('reason')
  const matcher = toMatcher(source)
  startCounting()
  expect([matcher.test(fits), matcher.test(not)]).toEqual([true, false])
  expect(matcher.limit).toBeGreaterThan(1000)
})

/** Patterns whose parts overlap, so that long texts would take too long: those are refused, and the pattern is not. */
// oxfmt-ignore
test.each([
  ['an e-mail address, loosely', '^\\S+@\\S+\\.\\S+$', 'ada@example.org', 'ada'],
  ['an e-mail address, more loosely', '^.+@.+\\..+$', 'ada@example.org', 'ada'],
  ['a URL without scheme', '^(https?:\\/\\/)?([\\da-z\\.-]+)\\.([a-z\\.]{2,6})([\\/\\w \\.-]*)\\/?$', 'example.org/a', 'x'],
  ['a text between spaces', '^\\s*(.*?)\\s*$', ' a b ', 'a\nb'],
  ['two words somewhere', '^.*foo.*bar.*$', 'a foo, a bar', 'a bar, a foo'],
  ['a link in a text', '\\[([^\\]]*)\\]\\(([^)]*)\\)', 'see [this](a.md)', 'see [this]'],
])('%s is matched in a text of 256 characters', (_, source, fits, not) => {
  expect(provePattern(source)).not.toHaveProperty('reason')
  const matcher = toMatcher(source)
  startCounting()
  expect([matcher.test(fits), matcher.test(not)]).toEqual([true, false])
  expect(matcher.limit).toBeGreaterThan(256)
})

/** Patterns as other places use them: examples of JSON Schema, validators, registries and clusters. */
// oxfmt-ignore
test.each([
  '^(\\([0-9]{3}\\))?[0-9]{3}-[0-9]{4}$', '[A-Z][0-9][A-Z] [0-9][A-Z][0-9]', '^(/[^/]+)+$', '^/dev/[^/]+(/[^/]+)*$',
  "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
  '^[\\w+-]+(?:\\.[\\w+-]+)*@[\\da-z]+(?:[.-][\\da-z]+)*\\.[a-z]{2,}$',
  '^(([^<>()[\\]\\\\.,;:\\s@"]+(\\.[^<>()[\\]\\\\.,;:\\s@"]+)*)|(".+"))@(([a-zA-Z\\-0-9]+\\.)+[a-zA-Z]{2,})$',
  "^\\w+([-+.']\\w+)*@\\w+([-.]\\w+)*\\.\\w+([-.]\\w+)*$",
  '^P(?:(\\d+W)|(?!.*W)(?=\\d|T\\d)(\\d+Y)?(\\d+M)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+([.,]\\d+)?S)?)?)$',
  '^(?=.{1,253}\\.?$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[-0-9a-zA-Z]{0,61}[0-9a-zA-Z])?)*\\.?$',
  '^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\\?([^#]*))?(#(.*))?$', '^[a-z][a-z0-9+.-]*://[^\\s/?#]+(?:[/?#]\\S*)?$',
  '^(?:git|ssh|https?|git@[-\\w.]+):(\\/\\/)?(.*?)(\\.git)(\\/?|\\#[-\\d\\w._]+?)$', '.*\\.json$', '[^/]+\\.[a-z]+$', '\\s+$', '.*$',
  '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$', '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$',
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  '^(?:[a-z0-9.-]+(?::\\d+)?/)?[a-z0-9]+(?:[._-][a-z0-9]+)*(?:/[a-z0-9]+(?:[._-][a-z0-9]+)*)*(?::[\\w][\\w.-]{0,127})?$',
  '^[A-Za-z0-9-_=]+\\.[A-Za-z0-9-_=]+\\.?[A-Za-z0-9-_.+/=]*$', '^[A-Z]{2}[0-9]{2}[A-Z0-9]{4}[0-9]{7}([A-Z0-9]?){0,16}$',
  '^10\\.\\d{4,9}/[-._;()/:A-Z0-9]+$', '^(?:/(?:[^~/]|~0|~1)*)*$', '^\\$(?:\\.[A-Za-z_]\\w*|\\[\\d+\\])*$', '^\\w+=\\S+(?:\\s+\\w+=\\S+)*$',
  '^[a-zA-Z]:\\\\(?:[^\\\\/:*?"<>|\\r\\n]+\\\\)*[^\\\\/:*?"<>|\\r\\n]*$', '^(?=.{3,20}$)(?![_.])(?!.*[_.]{2})[a-zA-Z0-9._]+(?<![_.])$',
  '^(?!\\s)[\\s\\S]*(?<!\\s)$', '^(?:[A-Z][a-z0-9]+)+$', '^[a-zA-Z_]+[a-zA-Z0-9_]*$', '<[^>]+>', '@[\\w-]+',
])('%s is accepted for a text of 1000 characters', (source) => {
  expect(provePattern(source)).not.toHaveProperty('reason')
  expect(toMatcher(source).limit).toBeGreaterThan(1000)
})

/** Patterns for content, which may be as long as a message. */
test.each([
  'base64',
  'base64 in captured groups',
  'an image',
  'text that is not blank',
  'text that is not blank, anchored',
])('%s is matched in a text of any length', (name) => {
  const [, source] = EVERYDAY.find(([what]) => what === name)!
  expect(toMatcher(source).limit).toBe(Infinity)
})
