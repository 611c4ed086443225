import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { run } from './run.ts'

const NAME = '@modelcontextprotocol/conformance'
const VERSION = '0.2.0-alpha.12'
const HOME = resolve('.cache/conformance')
const PACKAGE = join(HOME, 'node_modules', NAME)
const PROGRAM = join(PACKAGE, 'dist', 'index.js')

/** The set of all scenarios, also those that no revision requires. */
export const ALL = 'all'

/** The timeout for one set; scenarios that are missing then have failed. */
const LIMIT_MS = 600_000

/** The side under test. */
export type Side = 'server' | 'client'

/** The official conformance suite, ready to run. */
export interface Suite {
  /** The scenarios that a set has for servers or clients, scored or not. A set is what a revision requires, or `all`. */
  scenarios(side: Side, set: string): readonly string[]
  /** Runs them all against a URL or a command; returns the folder of results and the file with the output, in `place`. */
  test(side: Side, set: string, subject: string, place?: string): Promise<Outcome>
}

export interface Outcome {
  readonly folder: string
  readonly log: string
}

/** Installs the suite into the cache, if necessary, for the given Node version. */
export function installSuite(node: string): Suite {
  if (installedVersion() !== VERSION) install()
  const listed = new Map<string, readonly string[]>()
  return {
    scenarios: (side, set) => {
      const known = listed.get(`${side} ${set}`)
      if (known !== undefined) return known
      const listing = run(node, [PROGRAM, 'list', ...(set === ALL ? [] : ['--requirements', set])])
      const scenarios = toScenarios(listing, side)
      if (scenarios.length === 0) throw new Error(`the suite lists no ${side} scenarios for ${set}`)
      listed.set(`${side} ${set}`, scenarios)
      return scenarios
    },
    test: (side, set, subject, place = side) => test(node, side, set, subject, place),
  }
}

/** The scenarios of one side in the output of `list --requirements`: a separate section, and marked lines below. */
export function toScenarios(listing: string, side: Side): readonly string[] {
  const section = new RegExp(`^${side} scenarios.*\\n((?: {2}- .*\\n)*)`, 'im')
  const required = section.exec(listing)?.[1] ?? ''
  const names = required.matchAll(/- (\S+)/g)
  const unscored = listing.matchAll(new RegExp(`- (\\S+) \\[${side}\\]`, 'g'))
  return [...names, ...unscored].map((found) => found[1]!)
}

function installedVersion(): string | undefined {
  const file = join(PACKAGE, 'package.json')
  if (!existsSync(file)) return undefined
  return (JSON.parse(readFileSync(file, 'utf8')) as { version?: string }).version
}

function install(): void {
  rmSync(HOME, { recursive: true, force: true })
  mkdirSync(HOME, { recursive: true })
  writeFileSync(join(HOME, 'package.json'), '{ "private": true }\n')
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
  run('npm', ['install', `${NAME}@${VERSION}`, ...flags], HOME)
}

async function test(node: string, side: Side, set: string, subject: string, place: string): Promise<Outcome> {
  const folder = join(HOME, 'results', place, set)
  const log = join(HOME, 'results', place, `${set}.log`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const output = openSync(log, 'w')
  try {
    const flags = [
      side === 'server' ? '--url' : '--command',
      subject,
      set === ALL ? '--suite' : '--requirements',
      set,
      '-o',
      folder,
    ]
    const stdio = ['ignore', output, output] as const
    const running = spawn(node, [PROGRAM, side, ...flags], { stdio: [...stdio], timeout: LIMIT_MS })
    await once(running, 'exit')
  } finally {
    closeSync(output)
  }
  return { folder, log: relative(process.cwd(), log) }
}
