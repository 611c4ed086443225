import { describe, expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { createClient } from '../../src/client.ts'
import { erlmcp, official } from '../../src/profiles.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { CHOICES, type ChoiceRow } from '../../src/protocol/choices.ts'
import { DIALECTS, SWITCHES } from '../../src/protocol/switches.ts'

describe('the table of choices', () => {
  test.each(Object.entries<ChoiceRow>(CHOICES))(
    '%s has two values or more, and erlmcp chooses one',
    (_, row) => {
      expect(row.values.length).toBeGreaterThan(1)
      expect(row.values).toContain(row.erlmcp)
      expect(row.about).toMatch(/\.$/)
    },
  )

  test('what a revision decides too may be left to it, or be what a revision says', () => {
    const shared = Object.keys(CHOICES).filter((name) => name in SWITCHES)
    expect(shared).toEqual(['batch', 'argumentErrors'])
    for (const name of shared as ['batch', 'argumentErrors']) {
      const [first, ...rest]: readonly unknown[] = CHOICES[name].values
      expect(first).toBe('by-revision')
      expect(SWITCHES[name].at).toEqual(expect.arrayContaining(rest))
    }
  })
})

describe('the official profile', () => {
  test.each(REVISIONS)('speaks %s as a server without a profile does', (revision) => {
    expect(official.dialects[revision]).toEqual(DIALECTS[revision])
    expect(official.spoken).toBeUndefined()
    expect([...official.routes]).toEqual([])
  })
})

describe('a profile', () => {
  test('is derived from another by changing some choices, and the original stays unchanged', () => {
    const batched = official.with({ batch: 'always', nullIdErrors: true })
    expect(batched.dialects['2025-11-25']).toMatchObject({ batch: 'always', nullIdErrors: true })
    expect(official.choices.batch).toBe('by-revision')
    expect(erlmcp.with({ batch: 'by-revision' }).dialects['2025-11-25'].batch).toBe('never')
    expect(erlmcp.with({ batch: 'by-revision' }).dialects['2025-03-26'].batch).toBe('always')
    expect(Object.isFrozen(batched.dialects['2025-11-25'])).toBe(true)
  })

  test('leaves the forms of 2026-07-28 as they are, and changes what a server does there', () => {
    expect(erlmcp.dialects['2026-07-28'].adapter).toBeUndefined()
    expect(erlmcp.dialects['2026-07-28'].toolFailures).toBe('error')
    expect(erlmcp.dialects['2025-11-25'].adapter).toBeDefined()
  })

  test('refuses a switch or a value that does not exist, and says which there are', () => {
    expect(() => official.with({ bach: 'always' } as never)).toThrow(/did you mean "batch"/)
    expect(() => official.with({ batch: 'sometimes' } as never)).toThrow(
      'batch must be one of "by-revision", "always", not "sometimes"',
    )
    expect(() => official.with({ nullIdErrors: 1 } as never)).toThrow(/one of false, true/)
  })

  test('is given to a server or a client as a value, not by its name or its choices', () => {
    for (const profile of ['erlmcp', { batch: 'always' }, null] as never[]) {
      expect(() => createServer({ name: 'x', version: '1', profile })).toThrow(/pierhead\/profiles/)
      expect(() => createClient('http://localhost/mcp', { profile })).toThrow(/pierhead\/profiles/)
    }
  })
})

test('the example works as its guide says', async () => {
  const { strict } = await import('../../examples/profiles/client.ts')
  expect(strict.choices).toMatchObject({ versionMismatch: 'reject', batch: 'by-revision' })
})

describe('strict shapes', () => {
  const strict = official.with({ strictShapes: true })

  test('refuse a tool without a description when it is defined [S4-10-2] [S0-4.2]', () => {
    const app = createServer({ name: 'strict', version: '1', profile: strict })
    expect(() => app.tool('bare', {}, () => 'x')).toThrow(/tool "bare": it needs a description/)
    expect(() => app.tool('said', { description: 'Says x' }, () => 'x')).not.toThrow()
  })
})
