import { readdirSync } from 'node:fs'
import { testClient } from 'pierhead/testing'
import { expect, test } from 'vitest'
import { MODULES } from '../../examples/toolbox/modules.ts'
import app from '../../examples/toolbox/server.ts'
import { readFixtures } from '../../src/cli/fixtures.ts'
import { generateCases } from '../../src/validate/generated-cases.ts'
import { spawnLine } from '../command/line.ts'

const FOLDER = 'examples/toolbox'

test('the large example has 119 tools in 14 modules, each described and typed [S4-0-1]', async () => {
  const counts = Object.entries(MODULES).map(([name, tools]) => [name, Object.keys(tools).length] as const)
  expect(counts).toHaveLength(14)
  expect(readdirSync(`${FOLDER}/modules`)).toHaveLength(14)
  await using client = await testClient(app)
  const tools = await client.tools().toArray()
  expect(tools).toHaveLength(119)
  expect(tools.map(({ name }) => name)).toEqual(Object.values(MODULES).flatMap((one) => Object.keys(one)))
  for (const { name, description, inputSchema, outputSchema, annotations } of tools)
    expect({ name, description, inputSchema, outputSchema, annotations }).toMatchObject({
      name,
      description: expect.stringMatching(/^[A-Z].*\.$/),
      inputSchema: { type: 'object', additionalProperties: false },
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: true, openWorldHint: false },
    })
  const cases = tools.reduce((sum, { inputSchema }) => sum + generateCases(inputSchema).cases.length, 0)
  console.log(`${tools.length} tools in ${counts.length} modules; ${cases} cases from their schemas`)
  expect(cases).toBeGreaterThan(702)
})

interface Report {
  readonly passed: number
  readonly failed: number
  readonly skipped: readonly string[]
  readonly cases: readonly {
    readonly tool: string
    readonly name: string
    readonly from: 'fixture' | 'schema'
    readonly problem?: string
  }[]
}

test('pierhead test passes with a fixture file for every tool, and with the cases from the schemas [S4-0-1] [S4-0-3]', async () => {
  const { code, stdout, stderr } = await spawnLine([
    'test',
    `${FOLDER}/server.ts`,
    '--fixtures',
    `${FOLDER}/fixtures`,
    '--generate',
    '--json',
  ])
  const report = JSON.parse(stdout) as Report
  const failed = report.cases.filter(({ problem }) => problem !== undefined)
  expect(failed).toEqual([])
  expect([code, report.failed, report.skipped, stderr]).toEqual([0, 0, [], ''])
  const tools = Object.values(MODULES).flatMap((one) => Object.keys(one))
  const from = (kind: string): Set<string> =>
    new Set(report.cases.filter((one) => one.from === kind).map(({ tool }) => tool))
  expect([...from('fixture')].toSorted()).toEqual(tools.toSorted())
  expect([...from('schema')]).toEqual(tools)
  const fixtures = report.cases.filter((one) => one.from === 'fixture').length
  console.log(`${fixtures} fixtures and ${report.cases.length - fixtures} generated cases passed`)
})

test('no tool of the toolbox fails by mistake on the cases that its schema accepts [S4-0-1]', async () => {
  await using client = await testClient(app)
  const masked: string[] = []
  for (const { name, inputSchema } of await client.tools().toArray())
    for (const one of generateCases(inputSchema).cases.filter(({ isWrong }) => !isWrong)) {
      const said = await client.call(name, one.input).then(
        () => '',
        (error: Error) => error.message,
      )
      if (said !== '') masked.push(`${name}: ${said}`)
    }
  expect(masked).toEqual([])
})

test('the fixtures of the toolbox say what they expect', () => {
  const files = readFixtures(
    { folder: `${FOLDER}/fixtures`, project: FOLDER, isNamed: true },
    { cwd: '.', env: {} },
  )
  expect(files).toHaveLength(119)
  const vague = files.filter(
    ({ fixtures }) =>
      fixtures.length === 0 || fixtures.some((one) => !('output' in one) && !('error' in one)),
  )
  expect(vague).toEqual([])
})
