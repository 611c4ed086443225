import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { faultyDoor, serveEverywhere, type Served } from '../validate/faulty-door.ts'
import { createFixture } from '../validate/fixture.ts'
import { inTool } from '../validate/tool-schemas.ts'
import type { Report } from '../../src/validate/result.ts'
import { line } from './line.ts'

let served: Served
let url = ''
let cwd = ''

beforeAll(async () => {
  served = await serveEverywhere(createFixture())
  url = String(served.addresses.http)
  cwd = mkdtempSync(join(tmpdir(), 'pierhead-validate-'))
})

afterAll(async () => {
  rmSync(cwd, { recursive: true })
  await served.close()
})

async function validate(
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly report: Report }> {
  const { code, stdout, stderr } = await line(['validate', ...args], { cwd })
  expect(stderr).toBe('')
  return { code, report: JSON.parse(stdout) as Report }
}

const idsOf = ({ outcomes }: Report): ReadonlySet<string> => new Set(outcomes.map(({ id }) => id))

test('mcp validate --target 2025-11 checks one revision, and the envelopes of /gist [S1-12-1]', async () => {
  const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as { bin: Record<string, string> }
  expect(bin['mcp']).toBe(bin['pierhead'])
  const { code, report } = await validate('--target', '2025-11', '--server-url', url, '--allow-calls')
  expect(code).toBe(0)
  expect(report.counts).toMatchObject({ failures: 0, warnings: 0 })
  expect(new Set(report.outcomes.map(({ revision }) => revision))).toEqual(new Set(['2025-11-25']))
  const gist = report.outcomes.filter(({ id }) => id.startsWith('V05'))
  expect(gist.map(({ id, is }) => `${id} ${is}`)).toEqual(
    ['V050', 'V051', 'V052', 'V053'].map((id) => `${id} passed`),
  )
})

test('the full name of the revision leaves /gist alone', async () => {
  const only = ['--rule', 'V001', '--rule', 'V050']
  const { stdout, stderr } = await line(['validate', '--target', '2025-11-25', url, ...only], { cwd })
  expect([...idsOf(JSON.parse(stdout) as Report)]).toEqual(['V001'])
  expect(stderr).toContain('--rule V050 does nothing')
})

test('CI fails for a schema that is not valid [S1-10-8] [S1-12-2]', async () => {
  const message = inTool('echo')((tool) => ({ ...tool, inputSchema: { type: 'object', required: 'text' } }))
  const { door, close } = await faultyDoor(served, 'http', { rule: 'V010', does: 'is wrong', message })
  try {
    const { code, report } = await validate(String(door.url), '--target', '2025-11', '--rule', 'V010')
    expect(code).toBe(8)
    expect(report.outcomes[0]).toMatchObject({ id: 'V010', is: 'failed' })
    expect(report.outcomes[0]?.found).toMatch(/^tool "echo": its inputSchema at #\/required has a malformed/)
  } finally {
    await close()
  }
})

test('CI fails for answers that are slower than a target, and reports the numbers otherwise [S1-10-8]', async () => {
  const only = [url, '--target', '2025-11', '--rule', 'V040']
  const slow = await validate(...only, '--latency', 'p50=1m', '--latency', 'p90=0.000001ms')
  expect(slow.code).toBe(8)
  expect(slow.report.outcomes[0]?.found).toMatch(/^p90 is above 0\.000001 ms: p50 .*, p95 .*, p99 .*, p90 /)
  const quick = await validate(...only, '--latency', 'p50=1m,p99.9=60s')
  expect(quick.code).toBe(0)
  expect(quick.report.outcomes[0]?.found).toMatch(/, p99\.9 [\d.]+ ms \(\d+ requests\)$/)
  const { code, stdout } = await line(['validate', ...only], { cwd, terminal: true })
  expect(code).toBe(0)
  expect(stdout).toMatch(/- V040 p50 [\d.]+ ms, .*\(2025-11-25 http\)/)
})

test.each(['50ms', 'p99', 'p99=fast', 'p101=1s', 'p=1s'])('--latency %s is rejected', async (target) => {
  const { code, stderr } = await line(['validate', url, '--latency', target], { cwd })
  expect(code).toBe(2)
  expect(stderr).toContain('is not a target')
  expect(stderr).toContain('--latency p99=50ms')
})

test('--report writes an evaluation without any further work [S4-0-6]', async () => {
  const { code } = await line(['validate', url, '--target', '2025-11', '--report', 'report.html'], { cwd })
  expect(code).toBe(0)
  const page = readFileSync(join(cwd, 'report.html'), 'utf8')
  expect(page).toMatch(/<p class="score good">100/)
  for (const text of [url, 'Passed:', 'Not checked:', 'V010', 'R005', 'p99 ']) expect(page).toContain(text)
})
