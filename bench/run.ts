import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build, isStale } from '../tools/build.ts'
import { main } from '../tools/run.ts'
import { compile } from './children.ts'
import { type Machine, describeMachine, loadNow } from './machine.ts'
import { type Plan, type Row, type Sample, type Work, toRows } from './measure.ts'
import { headerText, tableText } from './report.ts'
import { clientHttp, clientStdio } from './works/client.ts'
import { http2026, httpSession } from './works/http.ts'
import { inProcess2025, inProcess2026, manyTools } from './works/in-process.ts'
import { install } from './works/install.ts'
import { list100, list1000 } from './works/lists.ts'
import { scanCost } from './works/scan.ts'
import { idleSessions } from './works/sessions.ts'
import { startHttp, startStdio, stdioMany, stdioOne } from './works/stdio.ts'
import { typeCost } from './works/types.ts'

const WORKS: readonly Work[] = [
  httpSession,
  http2026,
  inProcess2025,
  inProcess2026,
  stdioMany,
  stdioOne,
  startStdio,
  startHttp,
  clientHttp,
  clientStdio,
  list100,
  list1000,
  manyTools,
  idleSessions,
  scanCost,
  install,
  typeCost,
]

const FULL: Plan = {
  rounds: 5,
  seconds: 1,
  warmUp: 0.8,
  starts: 9,
  sessions: 2000,
  toolCounts: [1, 100, 1000, 10_000],
  typeCounts: [50, 200],
}

const QUICK: Plan = {
  rounds: 3,
  seconds: 0.2,
  warmUp: 0.3,
  starts: 3,
  sessions: 300,
  toolCounts: [1, 1000],
  typeCounts: [50],
}

async function bench(): Promise<void> {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, only: { type: 'string', multiple: true } },
  })
  const works = chosen(values.only)
  if (isStale()) await build()
  await compile()
  const machine = describeMachine()
  console.log(headerText(machine))
  const { samples, failures } = await runAll(works, values.quick ? QUICK : FULL)
  const after: Machine = { ...machine, loadAfter: loadNow() }
  // Only a whole run without failures replaces the record.
  const folder = values.quick || values.only || failures.length > 0 ? '.cache/bench' : 'reports'
  write(folder, toRows(samples), after)
  console.log(`\nload ${after.loadAfter} after the run; rows in ${folder}/bench.json`)
  if (failures.length > 0) throw new Error(`failed: ${failures.join('; ')}`)
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
      console.log(`\n${tableText(toRows(found))}`)
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
      say(failures.at(-1) ?? '')
    }
    say(`${name}: done in ${((performance.now() - start) / 1000).toFixed(0)} s`)
  }
  return { samples, failures }
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
