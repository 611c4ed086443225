import { expect, test } from 'vitest'
import { createGuard, type GuardOptions } from './guard.ts'
import type { HttpHead } from './parts.ts'

interface Asked {
  readonly host?: string
  readonly origin?: string
  readonly scheme?: string
}

function headOf({ host, origin, scheme = 'http' }: Asked): HttpHead {
  const headers = new Map(Object.entries({ host, origin }))
  return { method: 'POST', scheme, header: (name) => headers.get(name) }
}

/** The verdict on a request: that it may be served, also that its page may read the reply, or the kind of the error. */
function verdict(options: Partial<GuardOptions>, asked: Asked): string {
  try {
    const headers = createGuard({ hosts: undefined, cors: [], ...options }).check(headOf(asked))
    const reader = headers['access-control-allow-origin']
    if (reader === undefined) return 'served'
    return reader === asked.origin ? 'readable' : `readable by ${reader}`
  } catch (thrown) {
    return (thrown as { kind: string }).kind
  }
}

const EVIL = { host: 'evil.example:3000', origin: 'http://evil.example:3000' }
const OWN = { host: 'localhost:3000', origin: 'http://localhost:3000' }

test.each([
  [undefined, EVIL, 'forbidden_origin'],
  [undefined, { ...EVIL, host: 'EVIL.example:3000' }, 'forbidden_origin'],
  [undefined, { ...EVIL, host: 'localhost:3000' }, 'forbidden_origin'],
  [undefined, { host: 'mcp.example', origin: 'https://mcp.example' }, 'forbidden_origin'],
  [undefined, { host: 'mcp.example', origin: 'null' }, 'forbidden_origin'],
  [undefined, { origin: 'http://evil.example' }, 'forbidden_origin'],
  [undefined, OWN, 'readable'],
  [undefined, { ...OWN, host: '127.0.0.1:4000' }, 'readable'],
  [undefined, { ...OWN, host: 'mcp.example' }, 'served'],
  [undefined, { origin: 'http://localhost' }, 'served'],
  [undefined, { host: 'evil.example:3000' }, 'served'],
  [undefined, {}, 'served'],
  [['*'], EVIL, 'served'],
  [['*'], { ...EVIL, host: 'other.example' }, 'forbidden_origin'],
  [['*'], { ...EVIL, host: 'evil.example:4000' }, 'forbidden_origin'],
  [['*'], OWN, 'served'],
  [['*'], { ...OWN, host: 'mcp.example' }, 'forbidden_origin'],
  [['loopback'], EVIL, 'forbidden_host'],
  [['loopback'], OWN, 'readable'],
  [['loopback'], { ...OWN, host: 'localhost:4000' }, 'readable'],
  [['loopback'], { ...OWN, origin: EVIL.origin }, 'forbidden_origin'],
  [['loopback'], { ...OWN, host: '127.0.0.2:4000' }, 'readable'],
  [['loopback'], { host: '127.0.0.2:4000', origin: 'http://127.0.0.2:4000' }, 'readable'],
  [['loopback'], { ...OWN, host: '127.0.0.2.example:4000' }, 'forbidden_host'],
  [['loopback'], { ...OWN, origin: 'http://127.0.0.2.example' }, 'forbidden_origin'],
  [['localhost'], OWN, 'served'],
  [['localhost'], { ...OWN, host: 'localhost:4000' }, 'forbidden_origin'],
  [['mcp.example'], { host: 'mcp.example', origin: 'https://mcp.example' }, 'served'],
  [['mcp.example'], { host: 'MCP.example', origin: 'HTTP://mcp.EXAMPLE' }, 'served'],
  [['mcp.example'], { host: 'mcp.example', origin: 'https://mcp.example', scheme: 'https' }, 'served'],
  [
    ['mcp.example'],
    { host: 'mcp.example', origin: 'http://mcp.example', scheme: 'https' },
    'forbidden_origin',
  ],
  [
    ['mcp.example'],
    { host: 'mcp.example:80', origin: 'http://mcp.example', scheme: 'https' },
    'forbidden_origin',
  ],
  [['*'], { ...EVIL, scheme: 'https' }, 'forbidden_origin'],
  [['loopback'], { ...OWN, scheme: 'https' }, 'readable'],
  [['mcp.example'], { host: 'mcp.example:443', origin: 'https://mcp.example' }, 'served'],
  [['mcp.example'], { host: 'mcp.example:80', origin: 'http://mcp.example' }, 'served'],
  [['mcp.example'], { host: 'mcp.example:80', origin: 'https://mcp.example' }, 'forbidden_origin'],
  [['mcp.example'], { host: 'mcp.example', origin: 'https://mcp.example:8443' }, 'forbidden_origin'],
  [['mcp.example'], { host: 'mcp.example', origin: 'ftp://mcp.example' }, 'forbidden_origin'],
  [['a.example', 'b.example'], { host: 'a.example', origin: 'https://b.example' }, 'forbidden_origin'],
  [['mcp.example'], { host: 'mcp.example', origin: 'https://app.example' }, 'forbidden_origin'],
  [['mcp.example'], { host: 'mcp.example', origin: 'http://localhost' }, 'forbidden_origin'],
  [['mcp.example'], { host: 'localhost' }, 'forbidden_host'],
  [['mcp.example'], {}, 'forbidden_host'],
] as const)('with the hosts %o a request %o is %s', (hosts, asked, said) => {
  expect(verdict({ hosts }, asked)).toBe(said)
})

test.each([undefined, ['mcp.example'], ['*']])(
  'with the hosts %o, a listed origin may read the reply',
  (hosts) => {
    const cors = ['https://App.example:444']
    const host = 'mcp.example'
    expect(verdict({ hosts, cors }, { host, origin: 'https://app.example:444' })).toBe('readable')
    for (const origin of ['https://app.example', 'http://app.example:444', 'https://x.app.example:444'])
      expect(verdict({ hosts, cors }, { host, origin })).toBe('forbidden_origin')
    expect(verdict({ hosts, cors: ['*'] }, { host, origin: 'https://any.example' })).toBe('readable')
  },
)

test('a rejected host is rejected again, even between two accepted ones', () => {
  const { check } = createGuard({ hosts: ['a.example', 'b.example'], cors: [] })
  for (const host of ['a.example', 'a.example', 'b.example']) check(headOf({ host }))
  for (const host of ['evil.example', 'evil.example']) expect(() => check(headOf({ host }))).toThrow(/evil/)
  check(headOf({ host: 'a.example' }))
  expect(() => check(headOf({}))).toThrow(expect.objectContaining({ kind: 'forbidden_host' }))
})

test('an error repeats only the beginning of what was sent', () => {
  const { check } = createGuard({ hosts: ['a.example'], cors: [] })
  const long = 'x'.repeat(128)
  const thrownFor = (asked: Asked): string => {
    try {
      check(headOf(asked))
      return 'served'
    } catch (thrown) {
      return (thrown as Error).message
    }
  }
  expect(thrownFor({ host: `${long}y` })).toMatch(new RegExp(`\\b${long}\\b`))
  expect(thrownFor({ host: 'a.example', origin: `${long}y` })).toMatch(new RegExp(`\\b${long}\\b`))
})
