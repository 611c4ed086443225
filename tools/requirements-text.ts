import { BEGUN, STATES, type Finding, type Report, type State } from './requirements-report.ts'

/** Every id with its statement, part, state and tests, one line each within one JSON value. */
export function toJson({ findings, unknown, tested }: Report): string {
  const rows = findings.map(({ tests, ...row }) =>
    JSON.stringify({ ...row, begun: BEGUN.includes(row.part), tests }),
  )
  return `{"tested":${tested},"unknown":${JSON.stringify(unknown)},"requirements":[\n${rows.join(',\n')}\n]}\n`
}

/** The ids that are due and that no test names, one line each. */
export function toMissing({ findings }: Report): string {
  const due = findings.filter((row) => BEGUN.includes(row.part) && row.tests.length === 0)
  return due.map((row) => `${row.id}\t${row.statement}\n`).join('')
}

/** The report for a terminal: counts by document and by part, the open ids of the parts begun, and the later parts. */
export function toText(report: Report, { colour }: { readonly colour: boolean }): string {
  const { findings, unknown } = report
  const paint = (code: number, text: string): string => (colour ? `\u001B[${code}m${text}\u001B[0m` : text)
  const due = findings.filter((row) => BEGUN.includes(row.part))
  const inState = (state: State): readonly Finding[] => due.filter((row) => row.state === state)
  const finished = due.every((row) => row.state === 'proved')
  const state = finished ? paint(32, 'all proved') : paint(33, 'not finished')
  return [
    paint(1, 'By document'),
    ...table(findings, (row) => documentOf(row.id)),
    '',
    paint(1, 'By part'),
    ...table(findings, (row) => (BEGUN.includes(row.part) ? `${row.part} *` : row.part)),
    '',
    `* begun: ${due.length} requirements, ${state}`,
    ...section(paint(31, 'Failing'), inState('failing'), (row) => namesOf(row)),
    ...section(paint(33, 'Proved in part'), inState('partly'), ({ lacks, sameAs }) =>
      indented([`lacks: ${lacks ?? `what ${sameAs} lacks`}`]),
    ),
    ...section(paint(33, 'Missed'), inState('missed'), missesOf),
    ...section(paint(33, 'Open'), inState('open'), () => ''),
    ...section(paint(31, 'Unknown ids in test titles'), unknown, ({ test }) => `  ${test.file}`),
    '',
    paint(1, 'Later parts'),
    ...later(findings),
    '',
  ].join('\n')
}

/** The number of requirements in each state, by document. */
export function toCounts({ findings }: Report): string {
  return table(findings, (row) => documentOf(row.id)).join('\n')
}

function documentOf(id: string): string {
  return id.startsWith('R') ? 'protocol' : id.slice(0, id.indexOf('-'))
}

function table(findings: readonly Finding[], key: (row: Finding) => string): readonly string[] {
  const groups = group(findings, key)
  const width = Math.max(...[...groups.keys()].map((name) => name.length), 5)
  const line = (name: string, ...cells: readonly (string | number)[]): string =>
    `  ${name.padEnd(width)}${cells.map((cell) => String(cell).padStart(9)).join('')}`
  const counts = (rows: readonly Finding[]): readonly number[] => [
    rows.length,
    ...STATES.map((state) => rows.filter((row) => row.state === state).length),
  ]
  return [
    line('', 'all', ...STATES),
    ...[...groups].map(([name, rows]) => line(name, ...counts(rows))),
    line('all', ...counts(findings)),
  ]
}

function group(
  findings: readonly Finding[],
  key: (row: Finding) => string,
): ReadonlyMap<string, readonly Finding[]> {
  const groups = new Map<string, Finding[]>()
  for (const row of findings) {
    const rows = groups.get(key(row)) ?? []
    groups.set(key(row), rows)
    rows.push(row)
  }
  return groups
}

function section<Row extends { readonly id: string; readonly statement?: string }>(
  title: string,
  rows: readonly Row[],
  after: (row: Row) => string,
): readonly string[] {
  if (rows.length === 0) return []
  return ['', title, ...rows.map((row) => `  ${row.id.padEnd(10)} ${row.statement ?? ''}${after(row)}`)]
}

function namesOf(row: Finding): string {
  const failed = row.tests.filter((test) => test.state === 'failed')
  return indented(failed.map((test) => `${test.file}: ${test.title}`))
}

function missesOf({ misses, missed }: Finding): string {
  return indented([...misses, ...(missed === undefined ? [] : [missed])])
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `\n             ${line}`).join('')
}

function later(findings: readonly Finding[]): readonly string[] {
  const groups = group(
    findings.filter((row) => !BEGUN.includes(row.part)),
    (row) => row.part,
  )
  return [...groups].map(([name, rows]) => {
    const proved = rows.filter((row) => row.state === 'proved').length
    return `  ${name.padEnd(12)} ${rows.length - proved} open${proved > 0 ? `, ${proved} proved already` : ''}`
  })
}
