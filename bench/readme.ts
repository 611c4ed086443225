import { readFileSync, writeFileSync } from 'node:fs'
import { main, run } from '../tools/run.ts'
import type { Row } from './measure.ts'
import { README_ROWS, type ReadmeRow } from './readme-rows.ts'
import { LIMIT, OURS, TMCP, V1, V2 } from './subjects.ts'

/** Puts the measured table between the markers in the README. */
export function fillReadme(): void {
  const rows = JSON.parse(readFileSync('reports/bench.json', 'utf8')) as readonly Row[]
  const table = [
    '![Pierhead compared with tmcp, the official SDKs and bare Node](docs/bench.svg)',
    '',
    '| `tools/call` add(a, b), validated | bare Node | **Pierhead** | official v1 | official v2 | tmcp |',
    '|---|---|---|---|---|---|',
    ...README_ROWS.map((line) => lineText(line, rows)),
    '',
    'One run of `npm run bench` on two shared cores; in parentheses the ratio to bare Node, which does only the JSON and the sum.',
    'The run prints every measurement with its goal; [reports/bench.json](reports/bench.json) has them all.',
  ]
  const busy = rows.filter((row) => row.busy).length
  if (busy > 0) table.push(`Other programs were busy during ${busy} of its ${rows.length} rows.`)
  const readme = readFileSync('README.md', 'utf8')
  const markers = /<!-- bench -->[\s\S]*<!-- \/bench -->/
  if (!markers.test(readme)) throw new Error('README.md has no <!-- bench --> markers')
  writeFileSync(
    'README.md',
    readme.replace(markers, `<!-- bench -->\n\n${table.join('\n')}\n\n<!-- /bench -->`),
  )
  run('node_modules/.bin/oxfmt', ['README.md'])
}

function lineText({ label, work, unit, ours = OURS.name }: ReadmeRow, rows: readonly Row[]): string {
  const find = (subject: string): Row | undefined =>
    rows.find((row) => row.work === work && row.unit === unit && row.subject === subject)
  const peers = ours === OURS.name ? [V1, V2, TMCP] : []
  const plain = (subject: string): string => {
    const row = find(subject)
    return row ? formatted(row.value) : '–'
  }
  const own = find(ours)
  const share = typeof own?.ratioToLimit === 'number' ? ` (${own.ratioToLimit.toFixed(2)})` : ''
  const cells = [
    label,
    plain(LIMIT.name),
    own ? `**${formatted(own.value)}**${share}` : '–',
    ...[0, 1, 2].map((place) => plain(peers[place]?.name ?? '')),
  ]
  return `| ${cells.join(' | ')} |`
}

function formatted(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US')
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(2)))
}

if (import.meta.filename === process.argv[1]) await main(fillReadme)
