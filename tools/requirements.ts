import { RESULTS } from './reporter.ts'
import { exitCode, toReport } from './requirements-report.ts'
import { toJson, toMissing, toText } from './requirements-text.ts'
import { main } from './run.ts'

const FLAGS = ['--json', '--missing']

function print(): void {
  const flags = process.argv.slice(2)
  const wrong = flags.find((flag) => !FLAGS.includes(flag))
  if (wrong !== undefined) throw new Error(`there is no flag ${wrong}; use ${FLAGS.join(' or ')}`)
  const report = toReport(process.cwd())
  const { isTTY } = process.stdout
  if (flags.includes('--missing')) process.stdout.write(toMissing(report))
  else if (flags.includes('--json') || !isTTY) process.stdout.write(toJson(report))
  else process.stdout.write(toText(report, { colour: process.env['NO_COLOR'] === undefined }))
  for (const { id, test } of report.unknown)
    process.stderr.write(`[${id}] is no requirement: ${test.file}: ${test.title}\n`)
  if (!report.tested) process.stderr.write(`no test run is recorded in ${RESULTS}; run npm test first\n`)
  process.exitCode = exitCode(report)
}

await main(print)
