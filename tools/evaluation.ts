import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { REVISIONS, type Revision } from '../src/protocol/revisions.ts'

/** One outcome, as `validate --format json` writes it. */
export interface Outcome {
  readonly id: string
  readonly level: 'must' | 'should' | 'convention'
  readonly revision: Revision
  readonly transport: string
  readonly rule: string
  readonly fix: string
  readonly is: 'passed' | 'failed' | 'absent' | 'unchecked'
  readonly found?: string
}

export interface Report {
  /** None if too little was checked. */
  readonly score?: number
  readonly counts: Readonly<Record<'passed' | 'failures' | 'warnings' | 'absent' | 'unchecked', number>>
  readonly outcomes: readonly Outcome[]
}

/** A server of others: its page, and how it is started. */
interface Peer {
  readonly page: string
  readonly program: readonly string[]
  readonly http: string
}

const EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'
const PEERS: readonly Peer[] = [
  { page: 'official-v1', program: ['test/peers/servers/v1.mjs'], http: 'http' },
  { page: 'official-v2', program: ['test/peers/servers/v2.mjs'], http: 'http' },
  { page: 'tmcp', program: ['test/peers/servers/tmcp.mjs'], http: 'http' },
  { page: 'fastmcp', program: ['test/peers/servers/fastmcp.mjs'], http: 'http' },
  { page: 'server-everything', program: [EVERYTHING], http: 'streamableHttp' },
]
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FLAGS = ['--allow-calls', '--total', '3m', '--format', 'json']
const NAMES: Readonly<Record<string, string>> = { http: 'HTTP', sse: 'HTTP+SSE', stdio: 'stdio' }
const HEADS = {
  failures: ['Rule', 'Where', 'Found', 'What the specification says', 'What to change'],
  warnings: ['Rule', 'Kind', 'Where', 'Found', 'What is expected', 'What to change'],
}

/** The part of a page that comes from reports: from `## Result` to `## Notes`. */
export function sectionsOf(reports: readonly Report[]): string {
  const outcomes = reports.flatMap((report) => report.outcomes)
  const failed = outcomes.filter(({ is }) => is === 'failed')
  const must = failed.filter(({ level }) => level === 'must')
  const rest = failed.filter(({ level }) => level !== 'must')
  const open = outcomes.filter(({ is }) => is === 'unchecked')
  return [
    '## Result',
    tableOf(
      ['Transport', 'Revisions', 'Score', 'Passed', 'Failures', 'Warnings', 'Does not apply', 'Not checked'],
      reports.map((report) => resultRow(report)),
    ),
    'Counts are of outcomes: a rule that fails at four revisions counts four times.',
    '## Failures',
    tableOf(
      HEADS.failures,
      byRule(must).map((same) => failureRow(same, outcomes, false)),
    ),
    '## Warnings',
    tableOf(
      HEADS.warnings,
      byRule(rest).map((same) => failureRow(same, outcomes, true)),
    ),
    '## Not checked',
    open.length === 0
      ? 'Everything that applies was checked.'
      : tableOf(
          ['Rule', 'Where', 'Why'],
          byRule(open).map((same) => [same[0]?.id ?? '', whereOf(same, outcomes), foundOf(same)]),
        ),
  ].join('\n\n')
}

function resultRow({ score, counts, outcomes }: Report): readonly string[] {
  const revisions = REVISIONS.filter((one) => outcomes.some(({ revision }) => revision === one))
  const transports = [...new Set(outcomes.map(({ transport }) => NAMES[transport] ?? transport))]
  const { passed, failures, warnings, absent, unchecked } = counts
  const numbers = [score ?? 'none', passed, failures, warnings, absent, unchecked].map(String)
  return [transports.join(', '), revisions.join(', '), ...numbers]
}

function failureRow(same: readonly Outcome[], all: readonly Outcome[], hasKind: boolean): readonly string[] {
  const { id = '', level, rule = '', fix = '' } = same[0] ?? {}
  const kind = hasKind ? [level === 'should' ? 'advice' : 'convention'] : []
  return [id, ...kind, whereOf(same, all), foundOf(same), rule, fix]
}

function byRule(outcomes: readonly Outcome[]): readonly (readonly Outcome[])[] {
  const rules = new Map<string, Outcome[]>()
  for (const outcome of outcomes) rules.set(outcome.id, [...(rules.get(outcome.id) ?? []), outcome])
  return [...rules.values()].toSorted((a, b) => ((a[0]?.id ?? '') < (b[0]?.id ?? '') ? -1 : 1))
}

/** Transports with their revisions; `all` where the rule came to this at each revision of the run. */
function whereOf(same: readonly Outcome[], all: readonly Outcome[]): string {
  const transports = [...new Set(same.map(({ transport }) => transport))]
  return transports
    .map((transport) => {
      const at = (list: readonly Outcome[]): readonly Revision[] =>
        REVISIONS.filter((one) => list.some((each) => each.transport === transport && each.revision === one))
      const here = at(same)
      const every = at(all)
      return `${NAMES[transport] ?? transport}: ${here.length === every.length && every.length > 1 ? 'all' : here.join(', ')}`
    })
    .join('; ')
}

/** What was found, once for each different text. */
function foundOf(same: readonly Outcome[]): string {
  const isMixed = new Set(same.map(({ transport }) => transport)).size > 1
  const texts = new Map<string, Set<string>>()
  for (const { found = '', transport } of same)
    texts.set(found, (texts.get(found) ?? new Set()).add(NAMES[transport] ?? transport))
  const several = [...texts]
  return several
    .map(([text, on]) => (isMixed && several.length > 1 ? `${text} (${[...on].join(', ')})` : text))
    .join('; ')
}

function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return 'None.'
  const line = (cells: readonly string[]): string => `| ${cells.map(cellOf).join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}

function cellOf(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/[[{<*_][^ ]*["\]}>_]/g, (code) => `\`${code}\``)
}

/** Replaces what comes from reports, and keeps the rest. */
export function updated(page: string, sections: string): string {
  const from = page.indexOf('## Result')
  const to = page.indexOf('## Notes')
  return `${page.slice(0, from)}${sections}\n${to < 0 ? '' : `\n${page.slice(to)}`}`
}

async function reportOf(target: readonly string[]): Promise<Report> {
  const args = ['dist/cli/main.js', 'validate', ...FLAGS, ...target]
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  await once(child, 'close')
  return JSON.parse(text) as Report
}

async function overHttp({ program, http }: Peer): Promise<Report> {
  const port = await freePort()
  const env = { ...process.env, PORT: String(port) }
  const child = spawn(process.execPath, [...program, http], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    const told = await new Promise<string>((resolve) => {
      let text = ''
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        if (text.includes('listening')) resolve(text)
      })
      child.once('exit', () => resolve(text))
    })
    const url = /http:\/\/\S+/.exec(told)?.[0] ?? `http://127.0.0.1:${port}/mcp`
    return await reportOf([url])
  } finally {
    child.kill('SIGKILL')
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** Checks the servers of others and writes what was found into `docs/evaluation`. Arguments: pages, all by default. */
async function main(only: readonly string[]): Promise<void> {
  for (const peer of PEERS.filter(({ page }) => only.length === 0 || only.includes(page))) {
    const stdio = await reportOf(['--', 'node', ...peer.program, 'stdio'])
    const http = await overHttp(peer)
    const file = `${ROOT}/docs/evaluation/${peer.page}.md`
    writeFileSync(file, updated(readFileSync(file, 'utf8'), sectionsOf([stdio, http])))
    console.log(`${peer.page}: ${String(stdio.score)} over stdio, ${String(http.score)} over HTTP`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))
