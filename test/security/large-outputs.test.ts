import { expect, test } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'

const kinds = z.union([z.object({ a: z.string() }), z.object({ b: z.string() }), z.object({ c: z.string() })])
const record = z.record(z.string(), z.unknown())
const zeros = (count: number): number[] => Array.from({ length: count }, () => 0)
const wide = (count: number): object => Object.fromEntries(zeros(count).map((_, at) => [`k${at}`, at]))

test.each([
  ['alternatives that all fail', z.object({ rows: z.array(kinds) }), { rows: zeros(60_000) }, 'rows'],
  ['an intersection of many members', record.and(z.looseObject({})), wide(20_000), 'takes too long to check'],
])('an output has the limits of an input: %s', async (_, output, value, problem) => {
  let issues = 0
  const { validate } = output['~standard']
  const counted = (given: unknown): ReturnType<typeof validate> => {
    const result = validate(given)
    if (!('then' in result)) issues += result.issues?.length ?? 0
    return result
  }
  Object.assign(output['~standard'], { validate: counted })
  const logged: string[] = []
  const app = createServer({ name: 'outputs', version: '1', log: (__, message) => void logged.push(message) })
  app.tool('list', { output: output as z.ZodType<object> }, () => value)
  await using client = await testClient(app)
  await expect(client.call('list')).rejects.toThrow('list')
  expect(logged.at(-1)).toContain(problem)
  expect(issues).toBeLessThan(30_000)
})
