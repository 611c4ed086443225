import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { main, run } from '../tools/run.ts'
import type { Row } from './measure.ts'
import { README_ROWS, type ReadmeRow } from './readme-rows.ts'
import { FASTMCP, LIMIT, OURS, TMCP, V1, V2 } from './subjects.ts'

/** The columns after ours. */
const PEERS = [V1, V2, TMCP, FASTMCP]

/** Puts the table of a record between the markers in the README, or in a copy of it. */
export function fillReadme(folder = 'reports', to = 'README.md'): void {
  const rows = JSON.parse(readFileSync(join(folder, 'bench.json'), 'utf8')) as readonly Row[]
  writeFileSync(to, readmeWith(readFileSync('README.md', 'utf8'), rows))
  run('node_modules/.bin/oxfmt', [to])
}

/** The text of the README with the table of a record; throws if the record lacks a row of it. */
export function readmeWith(readme: string, rows: readonly Row[]): string {
  const missing = README_ROWS.find((row) => !findRow(row, row.ours ?? OURS.name, rows))
  if (missing) throw new Error(`the record lacks ${missing.work} (${missing.unit}): run "npm run bench"`)
  const markers = /<!-- bench -->[\s\S]*<!-- \/bench -->/
  if (!markers.test(readme)) throw new Error('README.md has no <!-- bench --> markers')
  const text = `<!-- bench -->\n\n${tableLines(rows).join('\n')}\n\n<!-- /bench -->`
  return readme.replace(markers, () => text)
}

function tableLines(rows: readonly Row[]): readonly string[] {
  const busy = rows.filter((row) => row.busy).length
  return [
    '![Pierhead compared with tmcp, fastmcp, the official SDKs and bare Node](docs/bench.svg)',
    '',
    `| \`tools/call\` add(a, b), validated | bare Node | **Pierhead** | ${PEERS.map(({ name }) => name).join(' | ')} |`,
    `|---|---|---|${PEERS.map(() => '---|').join('')}`,
    ...README_ROWS.map((line) => lineText(line, rows)),
    '',
    'One run of `npm run bench` on two shared cores; in parentheses the ratio to bare Node, which does only the JSON and the sum.',
    'Handlers are synchronous and return a string, or where noted `async` and return a content object; bare Node does the same.',
    'The run prints every measurement with its goal; [reports/bench.json](reports/bench.json) has them all.',
    ...(busy > 0
      ? [`† Other programs used the machine meanwhile, as in ${busy} of the ${rows.length} rows of the run.`]
      : []),
  ]
}

function findRow({ work, unit }: ReadmeRow, subject: string, rows: readonly Row[]): Row | undefined {
  return rows.find((row) => row.work === work && row.unit === unit && row.subject === subject)
}

function lineText(line: ReadmeRow, rows: readonly Row[]): string {
  const { label, ours = OURS.name } = line
  const plain = (subject: string): string => {
    const row = findRow(line, subject, rows)
    return row ? `${formatted(row.value)}${markOf(row)}` : '–'
  }
  const own = findRow(line, ours, rows)
  const share = typeof own?.ratioToLimit === 'number' ? ` (${own.ratioToLimit.toFixed(2)})` : ''
  const cells = [
    label,
    plain(LIMIT.name),
    own ? `**${formatted(own.value)}**${share}${markOf(own)}` : '–',
    ...PEERS.map(({ name }) => (ours === OURS.name ? plain(name) : '–')),
  ]
  return `| ${cells.join(' | ')} |`
}

function markOf({ busy }: Row): string {
  return busy ? ' †' : ''
}

function formatted(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US')
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(2)))
}

/** `--record folder` reads another record, and `--to file` writes a copy of the README. */
function fillFromArguments(): void {
  const { values } = parseArgs({ options: { record: { type: 'string' }, to: { type: 'string' } } })
  fillReadme(values.record, values.to)
}

if (import.meta.filename === process.argv[1]) await main(fillFromArguments)
