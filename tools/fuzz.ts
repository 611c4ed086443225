import { run, type Report } from '../test/fuzz/fuzz.ts'
import { TARGETS } from '../test/fuzz/targets.ts'
import { main } from './run.ts'

const USAGE = 'npm run fuzz -- --seed N --count M [--only target,…] [--from index]'
const FLAGS: readonly string[] = ['seed', 'count', 'only', 'from']

/** Fuzzes every target, or the named ones, and fails if an invariant of one is violated. */
async function fuzz(): Promise<void> {
  const flags = readFlags(process.argv.slice(2))
  const seed = toNumber(flags, 'seed', Math.floor(Math.random() * 2 ** 31))
  const count = toNumber(flags, 'count', 100_000)
  const from = toNumber(flags, 'from', 0)
  const only = flags.get('only')?.split(',')
  const unknown = only?.find((name) => TARGETS.every((target) => target.name !== name))
  if (unknown !== undefined)
    throw new Error(
      `unknown target "${unknown}"; the targets are ${TARGETS.map(({ name }) => name).join(', ')}`,
    )
  const chosen = TARGETS.filter(({ name }) => only === undefined || only.includes(name))
  const shares = chosen.reduce((sum, { share }) => sum + share, 0)
  console.log(`seed ${seed}, count ${count}`)
  console.log(
    `${'target'.padEnd(16)}${'inputs'.padStart(10)}${'seconds'.padStart(10)}${'findings'.padStart(10)}`,
  )
  const reports: Report[] = []
  for (const target of chosen) {
    const report = await run(target, {
      seed,
      from,
      count: Math.max(1, Math.round((count * target.share) / shares)),
    })
    reports.push(report)
    show(report)
  }
  show({
    target: 'all',
    inputs: reports.reduce((sum, { inputs }) => sum + inputs, 0),
    seconds: reports.reduce((sum, { seconds }) => sum + seconds, 0),
    findings: reports.flatMap(({ findings }) => findings),
  })
  if (reports.some(({ findings }) => findings.length > 0)) process.exitCode = 1
}

function show({ target, inputs, seconds, findings }: Report): void {
  const line = [
    target.padEnd(16),
    String(inputs).padStart(10),
    seconds.toFixed(1).padStart(10),
    String(findings.length).padStart(10),
  ]
  console.log(line.join(''))
  if (target === 'all') return
  for (const { problem, input, seed, index } of findings) {
    console.log(
      `  ${problem}\n    input: ${input}\n    again: npm run fuzz -- --seed ${seed} --only ${target} --from ${index} --count 1`,
    )
  }
}

function readFlags(args: readonly string[]): ReadonlyMap<string, string> {
  const flags = new Map<string, string>()
  for (let at = 0; at < args.length; at += 2) {
    const name = args[at]!.replace(/^--/, '')
    const value = args[at + 1]
    if (!FLAGS.includes(name) || value === undefined)
      throw new Error(`"${args[at]}" is not a valid option: ${USAGE}`)
    flags.set(name, value)
  }
  return flags
}

function toNumber(flags: ReadonlyMap<string, string>, name: string, fallback: number): number {
  const value = flags.has(name) ? Number(flags.get(name)) : fallback
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} must be a whole number: ${USAGE}`)
  return value
}

await main(fuzz)
