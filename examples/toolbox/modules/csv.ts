import { ToolError, type ToolMap } from 'pierhead'
import { z } from 'zod'
import { pure, tidy } from '../pure.ts'

const CSV = z
  .string()
  .min(1)
  .max(90_000)
  .meta({
    description: 'Comma-separated values; the first line names the columns.',
    examples: ['ship,length\nNele,12\nMarie,9'],
  })
const COLUMN = z
  .string()
  .max(200)
  .meta({ examples: ['length'] })

interface Table {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Reads CSV as RFC 4180 describes it. */
function read(text: string): Table {
  const [columns = [], ...rows] = linesOf(text)
  const odd = rows.findIndex((row) => row.length !== columns.length)
  if (odd >= 0)
    throw new ToolError(`Row ${odd + 1} has ${rows[odd]?.length} fields instead of ${columns.length}.`)
  return { columns, rows }
}

function linesOf(text: string): string[][] {
  const lines: string[][] = []
  let line: string[] = []
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    line.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',') continue
    if (line.length > 1 || line[0] !== '') lines.push(line)
    line = []
  }
  return lines
}

const field = (value: string): string => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)

const write = ({ columns, rows }: Table): string =>
  [columns, ...rows].map((row) => row.map(field).join(',')).join('\n')

function indexOf({ columns }: Table, column: string): number {
  const at = columns.indexOf(column)
  if (at < 0) throw new ToolError(`There is no column "${column}"; the columns are ${columns.join(', ')}.`)
  return at
}

/** Numbers by value and before all else, everything else by its letters. */
function compare(a: string, b: string): number {
  const [x, y] = [a, b].map((one) => (one.trim() === '' ? Number.NaN : Number(one))) as [number, number]
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y
  return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || (a < b ? -1 : Number(a > b))
}

export const csv: ToolMap = {
  csv_parse: pure(
    'Reads CSV into rows of fields.',
    { text: CSV },
    { columns: z.array(z.string()), rows: z.array(z.array(z.string())) },
    ({ text }) => {
      const { columns, rows } = read(text)
      return { columns: [...columns], rows: rows.map((row) => [...row]) }
    },
  ),
  csv_write: pure(
    'Writes rows as CSV, with quotes where they are needed.',
    {
      columns: z.array(z.string()).min(1).max(100),
      rows: z.array(z.array(z.string())).max(1000),
    },
    { text: z.string() },
    (table) => ({ text: write(table) }),
  ),
  csv_columns: pure(
    'Lists the columns of CSV, and counts its rows.',
    { text: CSV },
    { columns: z.array(z.string()), rows: z.int() },
    ({ text }) => {
      const { columns, rows } = read(text)
      return { columns: [...columns], rows: rows.length }
    },
  ),
  csv_select: pure(
    'Keeps some columns of CSV, in the given order.',
    { text: CSV, columns: z.array(COLUMN).min(1).max(100) },
    { text: z.string() },
    ({ text, columns }) => {
      const table = read(text)
      const places = columns.map((column) => indexOf(table, column))
      const pick = (row: readonly string[]): string[] => places.map((at) => row[at] ?? '')
      return { text: write({ columns, rows: table.rows.map(pick) }) }
    },
  ),
  csv_filter: pure(
    'Keeps the rows of CSV that have a value in a column.',
    { text: CSV, column: COLUMN, equals: z.string().max(1000) },
    { text: z.string(), rows: z.int() },
    ({ text, column, equals }) => {
      const table = read(text)
      const at = indexOf(table, column)
      const rows = table.rows.filter((row) => row[at] === equals)
      return { text: write({ ...table, rows }), rows: rows.length }
    },
  ),
  csv_sort: pure(
    'Sorts the rows of CSV by a column; numbers by value.',
    { text: CSV, column: COLUMN, descending: z.boolean().default(false) },
    { text: z.string() },
    ({ text, column, descending }) => {
      const table = read(text)
      const at = indexOf(table, column)
      const sign = descending ? -1 : 1
      const rows = table.rows.toSorted((a, b) => sign * compare(a[at] ?? '', b[at] ?? ''))
      return { text: write({ ...table, rows }) }
    },
  ),
  csv_total: pure(
    'Adds up the numbers of a column, and counts the fields that have none.',
    { text: CSV, column: COLUMN },
    { sum: z.number(), numbers: z.int(), others: z.int() },
    ({ text, column }) => {
      const table = read(text)
      const at = indexOf(table, column)
      const fields = table.rows.map((row) => row[at] ?? '').filter((one) => one.trim() !== '')
      const numbers = fields.map(Number).filter((one) => Number.isFinite(one))
      return {
        sum: tidy(numbers.reduce((sum, one) => sum + one, 0)),
        numbers: numbers.length,
        others: table.rows.length - numbers.length,
      }
    },
  ),
  csv_markdown: pure('Shows CSV as a table in Markdown.', { text: CSV }, { text: z.string() }, ({ text }) => {
    const { columns, rows } = read(text)
    const line = (cells: readonly string[]): string =>
      `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/\r?\n/g, ' ')).join(' | ')} |`
    return { text: [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n') }
  }),
}
