import { describe, expect, test } from 'vitest'
import { processorMs } from '../../test/harness/processor.ts'
import { DIALECTS, type Dialect } from '../protocol/switches.ts'
import type { SampleParams } from './ask.ts'
import { checkSampling } from './sampling.ts'

const official: Dialect = DIALECTS['2025-11-25']
const strict: Dialect = { ...official, temperature: 'checked', systemRole: 'passed' }
const question = { role: 'user', content: 'x' } as const

/** Checks a question that has these params besides its message. */
function check(more: object, dialect = official): unknown {
  return checkSampling({ messages: [question], ...more } as SampleParams, dialect)
}

/** The problem with a conversation, or undefined if there is none. */
function problem(...messages: readonly object[]): string | undefined {
  try {
    return void check({ messages })
  } catch (error) {
    return (error as Error).message
  }
}

describe('numbers', () => {
  test.each([1, 2, 1024, Number.MAX_SAFE_INTEGER])('maxTokens may be %d', (maxTokens) => {
    expect(check({ maxTokens })).toMatchObject({ maxTokens })
  })

  test.each([0, -1, 1.5, 0.5, Number.NaN, Infinity, '5', null])('maxTokens must not be %s', (maxTokens) => {
    expect(() => check({ maxTokens })).toThrow('maxTokens must be a positive integer')
  })

  test('priorities lie between 0 and 1, the ends included', () => {
    for (const name of ['costPriority', 'speedPriority', 'intelligencePriority']) {
      const at = (priority: unknown): unknown => check({ modelPreferences: { [name]: priority } })
      for (const fine of [0, 0.5, 1]) expect(at(fine)).toMatchObject({ modelPreferences: { [name]: fine } })
      for (const wrong of [-0.01, 1.01, Number.NaN, 'much'])
        expect(() => at(wrong)).toThrow(`modelPreferences.${name} must be between 0 and 1`)
    }
  })

  test('a temperature lies between 0 and 2, the ends included, where it is checked', () => {
    for (const temperature of [0, 1, 2, undefined]) check({ temperature }, strict)
    for (const temperature of [-0.01, 2.01, Number.NaN]) {
      expect(() => check({ temperature }, strict)).toThrow('temperature must be between 0 and 2')
      expect(check({ temperature })).toMatchObject({ temperature })
    }
  })
})

describe('messages', () => {
  const use = (id: string): object => ({ type: 'tool_use', id, name: 'weather', input: {} })
  const result = (toolUseId: string): object => ({ type: 'tool_result', toolUseId, content: [] })
  const text = { type: 'text', text: 'x' }
  const assistant = (...content: object[]): object => ({ role: 'assistant', content })
  const user = (...content: object[]): object => ({ role: 'user', content })

  test('each tool use is answered by the next message, which contains nothing else', () => {
    expect(problem(question, assistant(text, use('a'), use('b')), user(result('b'), result('a')))).toBe(
      undefined,
    )
    expect(problem(question, { role: 'assistant', content: use('a') }, user(result('a')), question)).toBe(
      undefined,
    )
    expect(problem(question, assistant(use('a'), use('b')), user(result('a')))).toContain(
      '"b" is not answered',
    )
    expect(problem(question, assistant(use('a')))).toContain('"a" is not answered')
    expect(problem(question, assistant(use('a')), user(result('a'), text))).toContain(
      'must not contain anything else',
    )
    expect(problem(question, assistant(use('a')), question, user(result('a')))).toContain(
      '"a" is not answered',
    )
  })

  test('the cost of a message grows with its tool uses, not with their square', async () => {
    const ids = Array.from({ length: 100_000 }, (_, at) => `use-${at}`)
    const messages = [question, assistant(...ids.map(use)), user(...ids.toReversed().map(result))]
    const parsed = await processorMs(() => JSON.parse(JSON.stringify(messages)))
    expect(await processorMs(() => check({ messages }))).toBeLessThan(4 * parsed + 50)
  })

  test('a role is user or assistant, and system only where that is passed on', () => {
    const messages = [{ role: 'system', content: 'Be brief' }, question]
    expect(() => check({ messages })).toThrow(
      'not "system"; put instructions for the model into systemPrompt',
    )
    expect(check({ messages }, strict)).toMatchObject({ messages: [{ role: 'system' }, { role: 'user' }] })
  })
})
