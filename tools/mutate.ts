import { main } from './run.ts'
import { readEquivalents } from './mutate/equivalents.ts'
import { mutate } from './mutate/mutate.ts'
import { report, toRows, tooFew } from './mutate/report.ts'
import { killAll } from './mutate/test-run.ts'

const USAGE = 'npm run mutate -- --seed N --count M [--jobs 2] [--only src/folder] [--json]'
const NUMBERS: readonly string[] = ['seed', 'count', 'jobs']

/** Mutates the sources in private copies and fails if the tests miss too many mutants. */
async function run(): Promise<void> {
  const { numbers, only, json } = readFlags(process.argv.slice(2))
  process.once('exit', killAll)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const verdicts = await mutate({
    root: process.cwd(),
    seed: numbers.get('seed') ?? Math.floor(Math.random() * 2 ** 31),
    count: numbers.get('count') ?? 60,
    jobs: Math.max(1, numbers.get('jobs') ?? 2),
    equivalents: readEquivalents('tools/mutate-equivalent.json'),
    progress: (line) => console.error(line),
    ...(only !== undefined && { only }),
  })
  console.log(json ? JSON.stringify(toRows(verdicts), null, 2) : report(verdicts))
  if (tooFew(verdicts)) process.exitCode = 1
}

interface Flags {
  readonly numbers: ReadonlyMap<string, number>
  readonly only?: string
  readonly json: boolean
}

function readFlags(args: readonly string[]): Flags {
  const numbers = new Map<string, number>()
  let only: string | undefined
  let json = false
  for (let at = 0; at < args.length; at++) {
    const name = args[at]?.replace(/^--/, '') ?? ''
    if (name === 'json') json = true
    else if (name === 'only' && args[at + 1] !== undefined) only = args[++at]
    else if (NUMBERS.includes(name)) numbers.set(name, toNumber(name, args[++at]))
    else throw new Error(`"${args[at]}" is not an option: ${USAGE}`)
  }
  return { numbers, json, ...(only !== undefined && { only }) }
}

function toNumber(name: string, text: string | undefined): number {
  const value = Number(text)
  if (text === undefined || !Number.isSafeInteger(value) || value < 0)
    throw new Error(`--${name} must be a whole number: ${USAGE}`)
  return value
}

await main(run)
