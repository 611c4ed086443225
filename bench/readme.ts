import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { main, run } from '../tools/run.ts'
import type { Machine } from './machine.ts'
import type { Row } from './measure.ts'
import { README_ROWS, type ReadmeRow } from './readme-rows.ts'
import { FASTMCP, LIMIT, OURS, TMCP, V1, V2 } from './subjects.ts'

/** Marks values that were measured while other programs used the machine. */
const MARK = '†'

/** The columns after ours. */
const PEERS = [V1, V2, TMCP, FASTMCP]

type Page = 'README.md' | 'docs/benchmarks.md'

interface Layout {
  readonly rows: readonly ReadmeRow[]
  /** The lines around the table. */
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** The pages with a table. */
const PAGES: Readonly<Record<Page, Layout>> = {
  'README.md': {
    rows: README_ROWS.filter(({ isFront }) => isFront),
    before: ['![Pierhead compared with tmcp, fastmcp, the official SDKs and bare Node](docs/bench.svg)', ''],
    after: [
      'Handlers are `async`, check their arguments with zod, add two numbers and return a content object. In parentheses the ratio to bare',
      'Node, which does the same work without MCP. One run on two shared cores; [more measurements](docs/benchmarks.md).',
    ],
  },
  'docs/benchmarks.md': {
    rows: README_ROWS,
    before: [],
    after: [
      'One run of `npm run bench`, in the repository, on two shared cores; in parentheses the ratio to bare Node. Handlers are synchronous and return a string, or',
      'where noted `async` and return a content object; bare Node does the same.',
    ],
  },
}

/** Puts the tables of a record between the markers of their pages, by default in place. */
export function fillReadme(folder = 'reports', to = '.'): void {
  const rows = JSON.parse(readFileSync(join(folder, 'bench.json'), 'utf8')) as readonly Row[]
  const machine = JSON.parse(readFileSync(join(folder, 'bench-machine.json'), 'utf8')) as Machine
  for (const page of Object.keys(PAGES) as Page[]) {
    const file = join(to, page)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, pageWith(page, readFileSync(page, 'utf8'), rows, machine))
    run('node_modules/.bin/oxfmt', [file])
  }
}

/** The text of a page with its table of a record; throws if the record lacks a row of it. */
export function pageWith(page: Page, text: string, rows: readonly Row[], machine: Machine): string {
  const missing = PAGES[page].rows.find((row) => !findRow(row, row.ours ?? OURS.name, rows))
  if (missing) throw new Error(`the record lacks ${missing.work} (${missing.unit}): run "npm run bench"`)
  const markers = /<!-- bench -->[\s\S]*<!-- \/bench -->/
  if (!markers.test(text)) throw new Error(`${page} has no <!-- bench --> markers`)
  const table = `<!-- bench -->\n\n${tableLines(page, rows, machine).join('\n')}\n\n<!-- /bench -->`
  return text.replace(markers, () => table)
}

function tableLines(page: Page, rows: readonly Row[], machine: Machine): readonly string[] {
  const { rows: own, before, after } = PAGES[page]
  const busy = rows.filter((row) => row.busy).length
  const lines = own.map((line) => lineText(line, rows))
  return [
    ...before,
    `| \`tools/call\` add(a, b), validated | bare Node | **Pierhead** | ${PEERS.map(({ name }) => name).join(' | ')} |`,
    `|---|---|---|${PEERS.map(() => '---|').join('')}`,
    ...lines,
    '',
    ...after,
    originText(own, machine),
    ...(lines.some((line) => line.includes(MARK))
      ? [
          `${MARK} Other programs used the machine meanwhile, as in ${busy} of the ${rows.length} rows of the run.`,
        ]
      : []),
  ]
}

/** When and with what the rows of a page were measured. */
function originText(rows: readonly ReadmeRow[], machine: Machine): string {
  const later = new Map<string, string[]>()
  for (const { work, label } of rows) {
    const date = machine.added?.[work]?.date
    if (date !== undefined && date !== machine.date) later.set(date, [...(later.get(date) ?? []), label])
  }
  const exceptions = [...later].map(([date, labels]) => `; on ${date}: ${labels.join('; ')}`)
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`)
  const { date, node, cores, cpu } = machine
  const facts = [`Node ${node.slice(1)}`, `${cores} cores (${cpu})`, ...versions]
  return `Measured on ${date} with ${facts.join(', ')}${exceptions.join('')}.`
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
  return busy ? ` ${MARK}` : ''
}

function formatted(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US')
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(2)))
}

/** `--record folder` reads another record, and `--to folder` writes copies of the pages. */
function fillFromArguments(): void {
  const { values } = parseArgs({ options: { record: { type: 'string' }, to: { type: 'string' } } })
  fillReadme(values.record, values.to)
}

if (import.meta.filename === process.argv[1]) await main(fillFromArguments)
