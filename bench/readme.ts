import { readFileSync, writeFileSync } from 'node:fs'
import { main, run } from '../tools/run.ts'
import type { Row } from './measure.ts'
import { LIMIT, OURS, OURS_JSON, TMCP, V1, V2 } from './subjects.ts'

interface Line {
  readonly label: string
  readonly work: string
  readonly unit: string
  /** Which of our rows is shown; peers stand beside the usual one only. */
  readonly ours?: string
}

/** What the README shows: a label, and the row of the report it comes from. */
const LINES: readonly Line[] = [
  {
    label: 'HTTP calls/s, 2025-11-25 session',
    work: 'HTTP tools/call, 2025-11-25 session',
    unit: 'req/s',
  },
  { label: 'HTTP calls/s, 2026-07-28', work: 'HTTP tools/call, 2026-07-28', unit: 'req/s' },
  {
    label: 'HTTP calls/s with a progress event, 2026-07-28',
    work: 'HTTP tools/call answered as SSE with one progress event, 2026-07-28',
    unit: 'req/s',
  },
  { label: 'calls/s in process', work: 'in process tools/call, 2025-11-25', unit: 'msg/s' },
  {
    label: 'calls/s in process, batches of ten',
    work: 'in process tools/call in batches of ten, 2025-03-26',
    unit: 'msg/s',
  },
  { label: 'stdio calls/s, 128 in flight', work: 'stdio tools/call, 128 in flight', unit: 'msg/s' },
  { label: 'stdio round trip, p50 µs', work: 'stdio tools/call, one in flight', unit: 'µs p50' },
  {
    label: 'client call over HTTP, p50 µs',
    work: 'client tools/call over HTTP, 2026-07-28',
    unit: 'µs p50',
  },
  {
    label: 'client call over stdio, p50 µs',
    work: 'client tools/call over stdio, 2026-07-28',
    unit: 'µs p50',
  },
  { label: 'cold start on stdio, ms', work: 'cold start to first reply, stdio', unit: 'ms' },
  {
    label: 'cold start on stdio without zod, ms',
    work: 'cold start to first reply, stdio',
    unit: 'ms',
    ours: OURS_JSON.name,
  },
  {
    label: 'list of 100 tools, server CPU µs',
    work: 'HTTP tools/list, 100 tools of ten fields',
    unit: 'µs server CPU',
  },
  { label: 'idle session, KB', work: 'idle 2025 session, 50 tools', unit: 'KB' },
  { label: 'install, packages', work: 'install', unit: 'packages' },
  { label: 'install, MB', work: 'install', unit: 'MB' },
  { label: 'bundled stdio server, KB gzip', work: 'bundle of a stdio server, minified', unit: 'KB gzip' },
  {
    label: 'bundled stdio server without zod, KB gzip',
    work: 'bundle of a stdio server, minified',
    unit: 'KB gzip',
    ours: OURS_JSON.name,
  },
]

/** Puts the measured table between the marks in the README. */
export function fillReadme(): void {
  const rows = JSON.parse(readFileSync('reports/bench.json', 'utf8')) as readonly Row[]
  const table = [
    '![Pierhead compared with tmcp, the official SDKs and bare Node](docs/bench.svg)',
    '',
    '| `tools/call` add(a, b), validated | bare Node | **Pierhead** | official v1 | official v2 | tmcp |',
    '|---|---|---|---|---|---|',
    ...LINES.map((line) => lineText(line, rows)),
    '',
    'One run of `npm run bench` on two shared cores; in brackets the ratio to bare Node doing only the JSON and the sum.',
    'The run prints every measurement with its goal; [reports/bench.json](reports/bench.json) keeps them.',
  ]
  const busy = rows.filter((row) => row.busy).length
  if (busy > 0) table.push(`Other programs were running beside ${busy} of its ${rows.length} rows.`)
  const readme = readFileSync('README.md', 'utf8')
  const marked = /<!-- bench -->[\s\S]*<!-- \/bench -->/
  if (!marked.test(readme)) throw new Error('README.md has no <!-- bench --> marks')
  writeFileSync(
    'README.md',
    readme.replace(marked, `<!-- bench -->\n\n${table.join('\n')}\n\n<!-- /bench -->`),
  )
  run('node_modules/.bin/oxfmt', ['README.md'])
}

function lineText({ label, work, unit, ours = OURS.name }: Line, rows: readonly Row[]): string {
  const find = (subject: string): Row | undefined =>
    rows.find((row) => row.work === work && row.unit === unit && row.subject === subject)
  const peers = ours === OURS.name ? [V1, V2, TMCP] : []
  const plain = (subject: string): string => {
    const row = find(subject)
    return row ? shown(row.value) : '–'
  }
  const own = find(ours)
  const share = typeof own?.ratioToLimit === 'number' ? ` (${own.ratioToLimit.toFixed(2)})` : ''
  const cells = [
    label,
    plain(LIMIT.name),
    own ? `**${shown(own.value)}**${share}` : '–',
    ...[0, 1, 2].map((place) => plain(peers[place]?.name ?? '')),
  ]
  return `| ${cells.join(' | ')} |`
}

function shown(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US')
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(2)))
}

if (import.meta.filename === process.argv[1]) await main(fillReadme)
