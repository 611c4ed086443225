import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build, isStale } from '../tools/build.ts'
import { main } from '../tools/run.ts'
import { compile } from './children.ts'
import { judge, needsProfile } from './goals.ts'
import { type Machine, describeMachine, loadNow } from './machine.ts'
import { type Plan, type Row, type Sample, type Workload, toRows } from './measure.ts'
import { drawPicture } from './picture.ts'
import { CI, FULL, PROFILE, QUICK } from './plans.ts'
import { type ProfileTable, profileText } from './profile-table.ts'
import { profileWorkload } from './profile.ts'
import { fillReadme } from './readme.ts'
import { type Ratio, better, isLost, ratiosOf, tallyOf, verdictOf } from './regressions.ts'
import { beatenText, goalsText, headerText, tableText } from './report.ts'
import { SHORT_WORKLOADS, WORKLOADS } from './workloads.ts'

/** Where whole runs are kept: the last one, and the reference, from a host that is fast enough for absolute numbers. */
const RECORD = 'reports'
const [LAST, REFERENCE] = ['bench.json', 'reference.json']
const PROFILES = 'bench-profiles.json'

/**
 * A whole run becomes the last one, which the README shows; with `--reference` also the one whose numbers requirements and CI
 * use. `--quick` measures everything briefly, `--only name` measures one workload; with `--reference`, its rows and profiles are
 * added to the records, with their date.
 * `--ci` checks our ratios against the record, and
 * `--profile name` shows where our server and bare Node spend the time of a call, as text on a terminal and as JSON otherwise.
 */
async function bench(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      ci: { type: 'boolean', default: false },
      reference: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      profile: { type: 'string', multiple: true },
    },
  })
  const workloads = selectWorkloads(values.profile ?? values.only)
  if (isStale()) await build()
  await compile()
  if (values.profile) return printProfiles(workloads)
  const machine = describeMachine()
  if (values.ci) return compareWithRecord(values.only ? workloads : SHORT_WORKLOADS, machine)
  console.log(headerText(machine))
  const { samples, failures, missed } = await runAll(workloads, values.quick ? QUICK : FULL)
  const after: Machine = { ...machine, loadAfter: loadNow() }
  // Only a complete run without failures replaces the record.
  const folder = values.quick || values.only || failures.length > 0 ? '.cache/bench' : RECORD
  const rows = judge(toRows(samples))
  write(folder, { [LAST]: rows, 'bench-machine.json': after })
  console.log(
    `\n${goalsText(rows)}\n${beatenText(rows)}\nload ${after.loadAfter} after the run; rows in ${folder}/${LAST}`,
  )
  const isAdded = values.reference && values.only !== undefined && !values.quick && failures.length === 0
  if (isAdded) for (const name of [LAST, REFERENCE]) write(RECORD, rowsAdded(name, rows, after))
  if (folder === RECORD) {
    if (values.reference) write(folder, { [REFERENCE]: rows, 'reference-machine.json': after })
    drawPicture()
  }
  if (folder === RECORD || isAdded) fillReadme()
  const profiles = await profileAll(missed, values.quick ? QUICK : PROFILE)
  for (const profile of profiles) console.log(`\n${profileText(profile)}`)
  write(folder, { [PROFILES]: profiles })
  if (isAdded) write(RECORD, { [PROFILES]: profilesAdded(profiles, workloads) })
  if (failures.length > 0) throw new Error(`failed: ${failures.join('; ')}`)
}

/** A record with further rows, which replace those of the same work, and its machine with their run. */
function rowsAdded(name: string, rows: readonly Row[], now: Machine): Readonly<Record<string, unknown>> {
  const works = new Set(rows.map(({ work }) => work))
  const kept = rowsIn(name).filter(({ work }) => !works.has(work))
  const file = name === LAST ? 'bench-machine.json' : 'reference-machine.json'
  const machine = JSON.parse(readFileSync(join(RECORD, file), 'utf8')) as Machine
  const { date, loadBefore, loadAfter } = now
  const added = Object.fromEntries([...works].map((work) => [work, { date, loadBefore, loadAfter }]))
  return { [name]: [...kept, ...rows], [file]: { ...machine, added: { ...machine.added, ...added } } }
}

interface Outcome {
  readonly samples: readonly Sample[]
  readonly failures: readonly string[]
  /** The workloads with a missed goal that a profile can explain. */
  readonly missed: readonly Workload[]
}

/** Runs the workloads one after the other; a failure does not stop the rest. */
async function runAll(workloads: readonly Workload[], plan: Plan): Promise<Outcome> {
  const samples: Sample[] = []
  const failures: string[] = []
  const missed: Workload[] = []
  for (const workload of workloads) {
    const { name, run } = workload
    const start = performance.now()
    try {
      const found = await run(plan, (line) => log(`${name}: ${line}`))
      samples.push(...found)
      const rows = judge(toRows(found))
      if (needsProfile(rows)) missed.push(workload)
      console.log(`\n${tableText(rows)}`)
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
      log(failures.at(-1) ?? '')
    }
    log(`${name}: done in ${((performance.now() - start) / 1000).toFixed(0)} s`)
  }
  return { samples, failures, missed }
}

/** Shows where the time of the calls goes that the workloads make. */
async function printProfiles(workloads: readonly Workload[]): Promise<void> {
  const profiles = await profileAll(workloads, PROFILE)
  console.log(
    process.stdout.isTTY ? profiles.map(profileText).join('\n\n') : JSON.stringify(profiles, null, 2),
  )
}

async function profileAll(workloads: readonly Workload[], plan: Plan): Promise<readonly ProfileTable[]> {
  const profiles: ProfileTable[] = []
  for (const workload of workloads)
    profiles.push(
      await profileWorkload(workload, plan, (line) => log(`profile of ${workload.name}: ${line}`)),
    )
  return profiles
}

/** Compares our ratios with the recorded ones; a workload with a lost ratio is measured again. */
async function compareWithRecord(workloads: readonly Workload[], { loadBefore }: Machine): Promise<void> {
  const record = recorded()
  console.log(`Our ratios to bare Node and those of the record; load ${loadBefore} before`)
  const ratios: Ratio[] = []
  let broken = 0
  for (const workload of workloads) {
    try {
      const found = await bestRatios(workload, record)
      for (const ratio of found) console.log(ratioText(ratio))
      ratios.push(...found)
    } catch (error) {
      broken++
      console.log(`FAILED  ${workload.name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const { passed, failed, unjudged } = tallyOf(ratios)
  console.log(`load ${loadNow()} after`)
  if (unjudged > 0)
    console.log(`${unjudged} new ratios are judged once ${RECORD}/${LAST} has them: run "npm run bench"`)
  console.log(`${passed} passed, ${failed + broken} failed`)
  if (failed + broken > 0) process.exitCode = 1
}

/** The recorded profiles with those of the workloads that ran again. */
function profilesAdded(
  profiles: readonly ProfileTable[],
  workloads: readonly Workload[],
): readonly ProfileTable[] {
  const recorded = JSON.parse(readFileSync(join(RECORD, PROFILES), 'utf8')) as readonly ProfileTable[]
  const names = new Set(workloads.map(({ name }) => name))
  return [...recorded.filter(({ workload }) => !names.has(workload)), ...profiles]
}

/** The rows of the reference, and those of the last run that it lacks. */
function recorded(): readonly Row[] {
  const [reference, last] = [REFERENCE, LAST].map(rowsIn) as [readonly Row[], readonly Row[]]
  const works = new Set(reference.map(({ work }) => work))
  return [...reference, ...last.filter(({ work }) => !works.has(work))]
}

function rowsIn(name: string): readonly Row[] {
  const file = join(RECORD, name)
  if (!existsSync(file)) throw new Error(`${file} is missing: run "npm run bench -- --reference" first`)
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
  const { name, now, recorded, busy } = ratio
  const before = recorded === undefined ? 'not recorded yet' : `recorded ${recorded.toFixed(2)}`
  return `${verdictOf(ratio).padEnd(4)}  ${name.padEnd(92)} ${now.toFixed(2)}, ${before}${busy ? '  busy' : ''}`
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

function write(folder: string, files: Readonly<Record<string, unknown>>): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, value] of Object.entries(files))
    writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`)
}

await main(bench)
