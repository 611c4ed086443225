import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readRequirements, toReport } from '../tools/requirements-report.ts'
import { judge } from './goals.ts'
import type { Row } from './measure.ts'

const rows = JSON.parse(readFileSync('reports/bench.json', 'utf8')) as readonly Row[]
const asked = readRequirements('requirements').filter(({ measured }) => measured !== undefined)

describe('the record', () => {
  test.each(asked.map(({ id, statement }) => [statement, id]))(
    'is compared with the number of "%s"; a miss has a reason [%s]',
    (_, id) => {
      const finding = toReport('.').findings.find((one) => one.id === id)
      expect(finding?.measured?.length).toBeGreaterThan(0)
      expect(finding?.misses.length === 0).toBe(finding?.missed === undefined)
    },
  )

  test('is judged by the current goals', () => {
    const bare = rows.map(({ goals: _, ...row }) => row)
    expect(judge(bare)).toEqual(rows)
  })

  test('has every number that the second document requires', () => {
    const numbers = readRequirements('requirements').filter(({ id }) =>
      /^S2-11\.[12]-|^S2-11\.3-[1-5]$/.test(id),
    )
    expect(numbers.filter(({ measured }) => measured === undefined)).toEqual([])
    expect(numbers).toHaveLength(16)
  })
})
