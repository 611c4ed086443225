import { readFileSync, writeFileSync } from 'node:fs'

interface Row {
  readonly work: string
  readonly subject: string
  readonly value: number
  readonly unit: string
  readonly ratioToLimit?: number
}

const SUBJECTS = ['limit', 'pierhead', 'official v1', 'official v2', 'tmcp'] as const

/** What the README shows: a label, and the row of the report it comes from. */
const SHOWN: readonly (readonly [label: string, work: string, unit: string])[] = [
  ['HTTP calls/s, 2025-11-25 session', 'HTTP tools/call, 2025-11-25 session', 'req/s'],
  ['HTTP calls/s, 2026-07-28', 'HTTP tools/call, 2026-07-28', 'req/s'],
  ['calls/s in process', 'in process tools/call, 2025-11-25', 'msg/s'],
  ['stdio calls/s, 128 in flight', 'stdio tools/call, 128 in flight', 'msg/s'],
  ['stdio round trip, p50 µs', 'stdio tools/call, one in flight', 'µs p50'],
  ['client call over HTTP, p50 µs', 'client tools/call over HTTP, 2026-07-28', 'µs p50'],
  ['client call over stdio, p50 µs', 'client tools/call over stdio, 2026-07-28', 'µs p50'],
  ['cold start on stdio, ms', 'cold start to first reply, stdio', 'ms'],
  ['list of 100 tools, server CPU µs', 'HTTP tools/list, 100 tools of ten fields', 'µs server CPU'],
  ['idle session, KB', 'idle 2025 session, 50 tools', 'KB'],
  ['install, packages', 'install', 'packages'],
  ['install, MB', 'install', 'MB'],
]

/** Puts the measured table between the marks in the README. */
function write(): void {
  const rows = JSON.parse(readFileSync('reports/bench.json', 'utf8')) as readonly Row[]
  const find = (work: string, unit: string, subject: string): Row | undefined =>
    rows.find((row) => row.work === work && row.unit === unit && row.subject === subject)
  const lines = SHOWN.map(([label, work, unit]) => {
    const cells = SUBJECTS.map((subject) => {
      const row = find(work, unit, subject)
      if (row === undefined) return '–'
      const share =
        subject === 'pierhead' && typeof row.ratioToLimit === 'number'
          ? ` (${row.ratioToLimit.toFixed(2)})`
          : ''
      return subject === 'pierhead' ? `**${shown(row.value)}**${share}` : shown(row.value)
    })
    return `| ${label} | ${cells.join(' | ')} |`
  })
  const table = [
    '| `tools/call` add(a, b), validated | bare Node | **Pierhead** | official v1 | official v2 | tmcp |',
    '|---|---|---|---|---|---|',
    ...lines,
    '',
    'One run of `npm run bench` on two shared cores; in brackets the ratio to bare Node doing only the JSON and the sum.',
  ].join('\n')
  const readme = readFileSync('README.md', 'utf8')
  const marked = /<!-- bench -->[\s\S]*<!-- \/bench -->/
  if (!marked.test(readme)) throw new Error('README.md has no <!-- bench --> marks')
  writeFileSync('README.md', readme.replace(marked, `<!-- bench -->\n\n${table}\n\n<!-- /bench -->`))
}

function shown(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US')
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(2)))
}

write()
