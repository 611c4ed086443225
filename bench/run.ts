import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build, isStale } from '../tools/build.ts'
import { main } from '../tools/run.ts'
import { compile } from './children.ts'
import { judge } from './goals.ts'
import { type Machine, describeMachine, loadNow } from './machine.ts'
import { type Plan, type Row, type Sample, type Workload, toRows } from './measure.ts'
import { drawPicture } from './picture.ts'
import { CI, FULL, QUICK } from './plans.ts'
import { fillReadme } from './readme.ts'
import { type Ratio, better, isLost, ratiosOf } from './regressions.ts'
import { goalsText, headerText, tableText } from './report.ts'
import { SHORT_WORKLOADS, WORKLOADS } from './workloads.ts'

const RECORD = 'reports'

/** `--quick` measures everything briefly, `--only name` measures one workload, and `--ci` checks our ratios against the record. */
async function bench(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      ci: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
    },
  })
  const workloads = selectWorkloads(values.only)
  if (isStale()) await build()
  await compile()
  const machine = describeMachine()
  if (values.ci) return compareWithRecord(values.only ? workloads : SHORT_WORKLOADS, machine)
  console.log(headerText(machine))
  const { samples, failures } = await runAll(workloads, values.quick ? QUICK : FULL)
  const after: Machine = { ...machine, loadAfter: loadNow() }
  // Only a complete run without failures replaces the record.
  const folder = values.quick || values.only || failures.length > 0 ? '.cache/bench' : RECORD
  const rows = judge(toRows(samples))
  write(folder, rows, after)
  console.log(`\n${goalsText(rows)}\nload ${after.loadAfter} after the run; rows in ${folder}/bench.json`)
  if (failures.length > 0) throw new Error(`failed: ${failures.join('; ')}`)
  if (folder !== RECORD) return
  drawPicture()
  fillReadme()
}

interface Outcome {
  readonly samples: readonly Sample[]
  readonly failures: readonly string[]
}

/** Runs the workloads one after the other; a failure does not stop the rest. */
async function runAll(workloads: readonly Workload[], plan: Plan): Promise<Outcome> {
  const samples: Sample[] = []
  const failures: string[] = []
  for (const { name, run } of workloads) {
    const start = performance.now()
    try {
      const found = await run(plan, (line) => log(`${name}: ${line}`))
      samples.push(...found)
      console.log(`\n${tableText(judge(toRows(found)))}`)
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
      log(failures.at(-1) ?? '')
    }
    log(`${name}: done in ${((performance.now() - start) / 1000).toFixed(0)} s`)
  }
  return { samples, failures }
}

/** Compares our ratios with the recorded ones; a workload with a lost ratio is measured again. */
async function compareWithRecord(workloads: readonly Workload[], { loadBefore }: Machine): Promise<void> {
  const record = recorded()
  console.log(`Our ratios to bare Node and those of ${RECORD}/bench.json; load ${loadBefore} before`)
  let passed = 0
  let failed = 0
  for (const workload of workloads) {
    try {
      const ratios = await bestRatios(workload, record)
      for (const ratio of ratios) console.log(ratioText(ratio))
      const lost = ratios.filter(isLost).length
      failed += lost
      passed += ratios.length - lost
    } catch (error) {
      failed++
      console.log(`FAILED  ${workload.name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  console.log(`load ${loadNow()} after\n${passed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}

function recorded(): readonly Row[] {
  const file = join(RECORD, 'bench.json')
  if (!existsSync(file)) throw new Error(`${file} is missing: run "npm run bench" first`)
  return JSON.parse(readFileSync(file, 'utf8')) as readonly Row[]
}

/** A ratio that fell because of other programs recovers in one of several tries. */
const TRIES = 5

async function bestRatios({ run }: Workload, record: readonly Row[]): Promise<readonly Ratio[]> {
  const once = async (): Promise<readonly Ratio[]> => ratiosOf(toRows(await run(CI, () => {})), record)
  let ratios = await once()
  for (let tries = 1; tries < TRIES && ratios.some(isLost); tries++) ratios = better(ratios, await once())
  return ratios
}

function ratioText(ratio: Ratio): string {
  const { name, now, recorded } = ratio
  return `${isLost(ratio) ? 'LOST' : 'kept'}  ${name.padEnd(92)} ${now.toFixed(2)}, recorded ${recorded.toFixed(2)}`
}

function selectWorkloads(names: readonly string[] | undefined): readonly Workload[] {
  if (!names) return WORKLOADS
  return names.map((name) => {
    const workload = WORKLOADS.find((candidate) => candidate.name === name)
    if (workload) return workload
    throw new Error(`unknown workload ${name}; choose from ${WORKLOADS.map((each) => each.name).join(', ')}`)
  })
}

function log(line: string): void {
  process.stderr.write(`${line}\n`)
}

function write(folder: string, rows: readonly Row[], machine: Machine): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'bench.json'), `${JSON.stringify(rows, null, 2)}\n`)
  writeFileSync(join(folder, 'bench-machine.json'), `${JSON.stringify(machine, null, 2)}\n`)
}

await main(bench)
