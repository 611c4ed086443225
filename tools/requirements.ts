import { compare, recordProven } from './proven.ts'
import { RESULTS } from './reporter.ts'
import { exitCode, toProven, toReport, type Report } from './requirements-report.ts'
import { toCounts, toJson, toMissing, toText } from './requirements-text.ts'
import { main } from './run.ts'

const FLAGS = ['--json', '--missing', '--check', '--record']

function print(): void {
  const flags = process.argv.slice(2)
  const wrong = flags.find((flag) => !FLAGS.includes(flag))
  if (wrong !== undefined) throw new Error(`unknown flag ${wrong}; use ${FLAGS.join(', ')}`)
  const root = process.cwd()
  const report = toReport(root)
  for (const { id, test } of report.unknown)
    process.stderr.write(`[${id}] is not a requirement: ${test.file}: ${test.title}\n`)
  if (!report.tested) process.stderr.write(`no test run is recorded in ${RESULTS}; run npm test first\n`)
  process.exitCode = exitCode(report)
  if (flags.includes('--record')) recordReport(root, report)
  else if (flags.includes('--check')) check(root, report)
  else if (flags.includes('--missing')) process.stdout.write(toMissing(report))
  else if (flags.includes('--json') || !process.stdout.isTTY) process.stdout.write(toJson(report))
  else process.stdout.write(toText(report, { colour: process.env['NO_COLOR'] === undefined }))
}

function recordReport(root: string, report: Report): void {
  if (process.exitCode !== 0 || report.failed > 0)
    throw new Error('nothing was recorded; fix the errors above and the failing tests first')
  for (const id of recordProven(root, toProven(report))) console.log(`${id} is no longer listed`)
}

/** Fails if the state of an id got worse, or if the list lacks one. */
function check(root: string, report: Report): void {
  const { kept, text } = compare(root, toProven(report), 'npm run requirements -- --record')
  if (!kept) process.exitCode = 1
  process.stdout.write(`${toCounts(report)}\n${text}`)
}

await main(print)
