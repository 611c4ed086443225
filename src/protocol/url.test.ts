import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isUrl, parseUrl } from './url.ts'

const HOST = 'ü'.repeat(400)
const BASE = 'https://example.com/mcp'

/** Spellings with a long host: parsers remove tabs, line ends and leading spaces, and take backslashes and any number of slashes. */
const LONG = [
  `https://${HOST}.example/`,
  `https:${HOST}/`,
  `HTTPS:\\\\${HOST}/`,
  `https:////////${HOST}/`,
  `https:/\t/${HOST}/`,
  `ht\ntps://${HOST}/`,
  `https:\r//${HOST}/`,
  ` https://${HOST}/`,
  `\u0000https://${HOST}/`,
  `wss://${HOST}/`,
  `file://${HOST}/`,
  `file:${HOST}/`,
  `file:/\t/${HOST}/`,
  `https://user:${'x'.repeat(400)}@${HOST}/`,
  `//${HOST}/`,
  `\\/${HOST}/`,
  `/\t/${HOST}/`,
  `/\\${HOST}/`,
  `\t//${HOST}/`,
  `https://${'%C3%BC'.repeat(60)}/`,
]

test.each(LONG)('a URL with a long host is not a URL: %j', (text) => {
  expect(URL.canParse(text, BASE)).toBe(true)
  expect(isUrl(text, BASE)).toBe(false)
  expect(() => parseUrl(text, BASE)).toThrow(TypeError)
})

const PATH = 'p'.repeat(1000)

test.each([
  `https://example.com/${PATH}`,
  `https://example.com?${PATH}`,
  `https://[::1]:8080/${HOST}`,
  `https://user:password@example.com/${PATH}`,
  `/${PATH}`,
  `?${PATH}`,
  `#${PATH}`,
  `messages?session=${PATH}`,
  `./${PATH}`,
  `file:///home/${PATH}`,
  `unix:/run/${PATH}`,
  `web+note://one/${PATH}`,
  `data:text/plain,${PATH}`,
  `data:,${PATH}`,
  `notes://${PATH}`,
  `urn:${PATH}`,
  `file:///${PATH}`,
])('a long URL with a short host is one: %j', (text) => {
  expect(isUrl(text, BASE)).toBe(true)
  expect(parseUrl(text, BASE).href).toBe(new URL(text, BASE).href)
})

test('no text that is a URL has a long host, whatever it begins with', () => {
  const start = fc.array(
    fc.constantFrom('https:', 'https', ':', '/', '\\', '\t', '\n', ' ', 'a', '?', '#', '@', 'x:', '.'),
  )
  fc.assert(
    fc.property(start, (parts) => {
      const text = `${parts.join('')}${'ü'.repeat(400)}.example/`
      // Hosts of other schemes are only escaped.
      const { protocol = '', hostname = '' } = isUrl(text, BASE) ? parseUrl(text, BASE) : {}
      expect(/^https?:$/.test(protocol) ? hostname.length : 0).toBeLessThan(320)
    }),
    { numRuns: 5000 },
  )
})
