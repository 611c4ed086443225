import { expect, test } from 'vitest'
import { createGuard, type GuardOptions } from './guard.ts'
import type { HttpHead } from './parts.ts'

interface Asked {
  readonly host?: string
  readonly origin?: string
  readonly local?: boolean
}

function headOf({ host, origin, local }: Asked): HttpHead {
  const headers = new Map(Object.entries({ host, origin }))
  return { method: 'POST', header: (name) => headers.get(name), ...(local !== undefined && { local }) }
}

/** The verdict on a request: that it may be served, or the kind of the error. */
function verdict(options: Partial<GuardOptions>, asked: Asked): string {
  try {
    createGuard({ hosts: undefined, cors: [], ...options }).check(headOf(asked))
    return 'served'
  } catch (thrown) {
    return (thrown as { kind: string }).kind
  }
}

const EVIL = { host: 'evil.example:3000', origin: 'http://evil.example:3000' }
const OWN = { host: 'localhost:3000', origin: 'http://localhost:3000' }

test.each([
  [undefined, { ...EVIL, local: true }, 'forbidden_origin'],
  [undefined, { ...EVIL, local: false }, 'served'],
  [undefined, EVIL, 'served'],
  [undefined, { ...OWN, local: true }, 'served'],
  [undefined, { ...OWN, host: 'localhost:4000', local: true }, 'forbidden_origin'],
  [undefined, { host: 'evil.example:3000', local: true }, 'served'],
  [['*'], { ...EVIL, local: true }, 'served'],
  [['*'], { ...EVIL, host: 'other.example', local: true }, 'forbidden_origin'],
  [['loopback'], { ...EVIL, local: true }, 'forbidden_host'],
  [['loopback'], { ...OWN, local: true }, 'served'],
  [['loopback'], { ...OWN, host: 'localhost:4000' }, 'served'],
  [['mcp.example'], { host: 'mcp.example', origin: 'https://mcp.example:8443' }, 'served'],
  [['mcp.example'], { host: 'mcp.example', origin: 'http://localhost' }, 'forbidden_origin'],
  [['mcp.example'], { host: 'localhost' }, 'forbidden_host'],
  [['mcp.example'], {}, 'forbidden_host'],
] as const)('with the hosts %o a request %o is %s', (hosts, asked, said) => {
  expect(verdict({ hosts }, asked)).toBe(said)
})

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
