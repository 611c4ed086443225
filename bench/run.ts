import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build, isStale } from '../tools/build.ts'
import { main } from '../tools/run.ts'
import { compile } from './children.ts'
import { judge } from './goals.ts'
import { type Machine, describeMachine, loadNow } from './machine.ts'
import { type Plan, type Row, type Sample, type Work, toRows } from './measure.ts'
import { drawPicture } from './picture.ts'
import { CI, FULL, QUICK } from './plans.ts'
import { fillReadme } from './readme.ts'
import { type Ratio, better, isLost, ratiosOf } from './regressions.ts'
import { goalsText, headerText, tableText } from './report.ts'
import { SHORT_WORKS, WORKS } from './works.ts'

const RECORD = 'reports'

/** `--quick` measures all of it briefly, `--only name` a part, `--ci` whether our ratios are still about the recorded ones. */
async function bench(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      ci: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
    },
  })
  const works = chosen(values.only)
  if (isStale()) await build()
  await compile()
  const machine = describeMachine()
  if (values.ci) return compareWithRecord(values.only ? works : SHORT_WORKS, machine)
  console.log(headerText(machine))
  const { samples, failures } = await runAll(works, values.quick ? QUICK : FULL)
  const after: Machine = { ...machine, loadAfter: loadNow() }
  // Only a whole run without failures replaces the record.
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

/** Runs one work after the other; one that fails does not keep the rest from being measured. */
async function runAll(works: readonly Work[], plan: Plan): Promise<Outcome> {
  const samples: Sample[] = []
  const failures: string[] = []
  for (const { name, run } of works) {
    const start = performance.now()
    try {
      const found = await run(plan, (line) => say(`${name}: ${line}`))
      samples.push(...found)
      console.log(`\n${tableText(judge(toRows(found)))}`)
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
      say(failures.at(-1) ?? '')
    }
    say(`${name}: done in ${((performance.now() - start) / 1000).toFixed(0)} s`)
  }
  return { samples, failures }
}

/** Compares our ratios with the recorded ones; a work with a ratio that was lost is measured again. */
async function compareWithRecord(works: readonly Work[], { loadBefore }: Machine): Promise<void> {
  const record = recorded()
  console.log(`Our ratios to bare Node beside those of ${RECORD}/bench.json; load ${loadBefore} before`)
  let passed = 0
  let failed = 0
  for (const work of works) {
    try {
      const ratios = await ratiosUnlessLost(work, record)
      for (const ratio of ratios) console.log(ratioText(ratio))
      const lost = ratios.filter(isLost).length
      failed += lost
      passed += ratios.length - lost
    } catch (error) {
      failed++
      console.log(`FAILED  ${work.name}: ${error instanceof Error ? error.message : String(error)}`)
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

/** Other programs come and go; a ratio that is really lost is lost each time. */
const TRIES = 5

async function ratiosUnlessLost({ run }: Work, record: readonly Row[]): Promise<readonly Ratio[]> {
  const once = async (): Promise<readonly Ratio[]> => ratiosOf(toRows(await run(CI, () => {})), record)
  let ratios = await once()
  for (let tries = 1; tries < TRIES && ratios.some(isLost); tries++) ratios = better(ratios, await once())
  return ratios
}

function ratioText(ratio: Ratio): string {
  const { name, now, recorded } = ratio
  return `${isLost(ratio) ? 'LOST' : 'kept'}  ${name.padEnd(92)} ${now.toFixed(2)}, recorded ${recorded.toFixed(2)}`
}

function chosen(names: readonly string[] | undefined): readonly Work[] {
  if (!names) return WORKS
  return names.map((name) => {
    const work = WORKS.find((candidate) => candidate.name === name)
    if (work) return work
    throw new Error(`there is no work ${name}; choose from ${WORKS.map((each) => each.name).join(', ')}`)
  })
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

function write(folder: string, rows: readonly Row[], machine: Machine): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'bench.json'), `${JSON.stringify(rows, null, 2)}\n`)
  writeFileSync(join(folder, 'bench-machine.json'), `${JSON.stringify(machine, null, 2)}\n`)
}

await main(bench)
