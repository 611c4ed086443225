import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { main } from '../tools/run.ts'
import type { Machine } from './machine.ts'
import type { Row } from './measure.ts'
import { README_ROWS } from './readme-rows.ts'

/** The panels of the picture: a workload, its unit, and a short title. */
const PANELS = README_ROWS.flatMap(({ work, unit, title }) =>
  title === undefined ? [] : [{ work, unit, title }],
)

/** The bars of a panel, from top to bottom, each with its CSS class. */
const BARS: readonly (readonly [subject: string, colour: string, label: string])[] = [
  ['pierhead', 'ours', 'Pierhead'],
  ['tmcp', 'peer', 'tmcp'],
  ['fastmcp', 'peer', 'fastmcp'],
  ['official v1', 'peer', 'official v1'],
  ['official v2', 'peer', 'official v2'],
  ['limit', 'limit', 'bare Node'],
]

const WIDTH = 920
const MARGIN = 24
const COLUMNS = 2
const PANEL_WIDTH = (WIDTH - MARGIN * (COLUMNS + 1)) / COLUMNS
const PANEL_HEIGHT = 199
const HEADER = 56
const BAR_HEIGHT = 16
const BAR_STEP = 23
const BAR_FROM = 92
const VALUE_ROOM = 112

const STYLE = `
  text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2328 }
  .page { fill: #ffffff; stroke: #d0d7de }
  .head { font-size: 17px; font-weight: 600 }
  .title { font-size: 14px; font-weight: 600 }
  .quiet { fill: #59636e; font-size: 12px }
  .ours { fill: #0969da }
  .peer { fill: #a3adb8 }
  .limit { fill: #ffffff; stroke: #8c959f; stroke-dasharray: 3 2 }
  .strong { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .page { fill: #0d1117; stroke: #30363d }
    .quiet { fill: #9198a1 }
    .ours { fill: #4493f8 }
    .peer { fill: #59636e }
    .limit { fill: #0d1117; stroke: #9198a1 }
  }`

/** Draws a record, by default the recorded run into the docs. */
export function drawPicture(folder = 'reports', to = 'docs/bench.svg'): void {
  const file = join(folder, 'bench.json')
  if (!existsSync(file)) throw new Error(`${file} is missing: run "npm run bench" first`)
  const rows = JSON.parse(readFileSync(file, 'utf8')) as readonly Row[]
  const machine = JSON.parse(readFileSync(join(folder, 'bench-machine.json'), 'utf8')) as Machine
  writeFileSync(to, picture(rows, machine))
  console.log(`${to} drawn from ${file}`)
}

/** The comparison as an SVG that follows the reader's light or dark colour scheme. */
export function picture(rows: readonly Row[], machine: Machine): string {
  const panels = PANELS.map((panel) => ({
    ...panel,
    rows: rows.filter(({ work, unit }) => work === panel.work && unit === panel.unit),
  })).filter((panel) => panel.rows.length > 0)
  const height = HEADER + Math.ceil(panels.length / COLUMNS) * PANEL_HEIGHT + MARGIN
  const place = (index: number): string => {
    const x = MARGIN + (index % COLUMNS) * (PANEL_WIDTH + MARGIN)
    return `translate(${x} ${HEADER + Math.floor(index / COLUMNS) * PANEL_HEIGHT})`
  }
  const drawn = panels.map((panel, index) => `<g transform="${place(index)}">${panelText(panel)}</g>`)
  const facts = `one run, Node ${machine.node}, ${machine.cpu}, ${machine.cores} cores, ${machine.date}`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title">
<title id="title">Pierhead compared with tmcp, fastmcp, the official SDKs and bare Node</title>
<style>${STYLE}
</style>
<rect class="page" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
<text class="head" x="${MARGIN}" y="34">tools/call add(a, b), validated, async handler</text>
<text class="quiet" x="${WIDTH - MARGIN}" y="34" text-anchor="end">${escaped(facts)}</text>
${drawn.join('\n')}
</svg>
`
}

function panelText(panel: {
  readonly title: string
  readonly unit: string
  readonly rows: readonly Row[]
}): string {
  const { title, unit, rows } = panel
  const visible = BARS.flatMap(([subject, colour, label]) => {
    const row = rows.find((candidate) => candidate.subject === subject)
    return row ? [{ row, colour, label }] : []
  })
  const largest = Math.max(...visible.map(({ row }) => row.value))
  const room = PANEL_WIDTH - BAR_FROM - VALUE_ROOM
  const direction = rows[0]?.better === 'more' ? 'more is better' : 'less is better'
  const bars = visible.map(({ row, colour, label }, index) => {
    const y = 34 + index * BAR_STEP
    const width = Math.max(2, (row.value / largest) * room).toFixed(1)
    const weight = colour === 'ours' ? ' class="strong"' : ''
    return (
      `<text${weight} x="${BAR_FROM - 8}" y="${y + 13}" text-anchor="end">${escaped(label)}</text>` +
      `<rect class="${colour}" x="${BAR_FROM}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="2"/>` +
      `<text${weight} x="${(BAR_FROM + Number(width) + 8).toFixed(1)}" y="${y + 13}">${valueText(row.value)}${row.busy ? ' (busy)' : ''}</text>`
    )
  })
  return (
    `<text class="title" x="0" y="18">${escaped(title)}</text>` +
    `<text class="quiet" x="${PANEL_WIDTH}" y="18" text-anchor="end">${escaped(unit.split(' ')[0] ?? unit)}, ${direction}</text>${bars.join('')}`
  )
}

function valueText(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 3 })
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** `--record folder` draws another record, and `--to file` another picture. */
function drawFromArguments(): void {
  const { values } = parseArgs({ options: { record: { type: 'string' }, to: { type: 'string' } } })
  drawPicture(values.record, values.to)
}

if (import.meta.filename === process.argv[1]) await main(drawFromArguments)
