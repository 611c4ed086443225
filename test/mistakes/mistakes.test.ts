import { describe, expect, test } from 'vitest'
import { calling } from './calling.ts'
import { connecting } from './connecting.ts'
import { context } from './context.ts'
import { defining } from './defining.ts'
import { grouping } from './grouping.ts'
import { listening } from './listening.ts'
import { readingsOf, type Mistake } from './mistake.ts'
import { mounting } from './mounting.ts'
import { options } from './options.ts'
import { protecting } from './protecting.ts'
import { resources } from './resources.ts'
import { returning } from './returning.ts'
import { running } from './running.ts'
import { schemas } from './schemas.ts'

const THEMES: Readonly<Record<string, readonly Mistake[]>> = {
  defining,
  schemas,
  options,
  returning,
  context,
  resources,
  mounting,
  protecting,
  listening,
  connecting,
  grouping,
  calling,
  running,
}
const ALL = Object.values(THEMES).flat()

describe.each(Object.entries(THEMES))('%s', (_, mistakes) => {
  test.each(mistakes.map((mistake) => [mistake.wrote, mistake] as const))('%s', async (_wrote, mistake) => {
    const readings = await readingsOf(mistake)
    const said = readings.join('\n')
    expect(said).toMatch(mistake.problem)
    expect(said).toMatch(mistake.fix)
    // A warning for every call would fill the log.
    const warnings = readings.filter((one) => one.startsWith('warning: '))
    expect(new Set(warnings).size).toBe(warnings.length)
  })
})

test('at least 130 different mistakes are made, each with a problem and a fix', () => {
  expect(new Set(ALL.map(({ wrote }) => wrote)).size).toBe(ALL.length)
  expect(ALL.length).toBeGreaterThanOrEqual(130)
})
