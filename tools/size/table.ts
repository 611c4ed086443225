import type { Size } from './measure.ts'
import { SUBJECTS, TASKS, type Subject } from './programs.ts'

type Column = keyof Omit<Size, 'subject' | 'task'>

const FORMS: readonly (readonly [label: string, columns: readonly Column[]])[] = [
  ['one file, esbuild', ['single']],
  ['initial / all chunks, esbuild', ['initial', 'total']],
  ['initial / all chunks, Vite', ['viteInitial', 'viteTotal']],
]

interface Line {
  readonly task: string
  readonly form: string
  /** One for each subject, in order; empty if there is no such program. */
  readonly cells: readonly string[]
}

/** The lines of the table: each task in each form, in KB. */
export function linesOf(sizes: readonly Size[]): readonly Line[] {
  const cell = (task: string, subject: Subject, columns: readonly Column[]): string => {
    const size = sizes.find((one) => one.task === task && one.subject === subject)
    return columns
      .flatMap((column) => (size?.[column] === undefined ? [] : formatted(size[column])))
      .join(' / ')
  }
  return Object.values(TASKS).flatMap((task) =>
    FORMS.map(([form, columns]) => ({
      task,
      form,
      cells: SUBJECTS.map((subject) => cell(task, subject, columns)),
    })),
  )
}

/** The table for a terminal. */
export function tableText(sizes: readonly Size[]): string {
  const rows = [
    ['KB gzip, minified', '', ...SUBJECTS],
    ...linesOf(sizes).map(({ task, form, cells }) => [task, form, ...cells]),
  ]
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)))
  return rows
    .map((row) =>
      row
        .map((text, at) => text.padEnd(widths[at]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** the table for the page of benchmarks. */
export function markdownTable(sizes: readonly Size[]): string {
  const rows = linesOf(sizes).map(({ task, form, cells }) => {
    const [own = '', ...peers] = cells
    return [`${task}: ${form}`, `**${own}**`, ...peers.map((text) => text || '–')]
  })
  const [own, ...peers] = SUBJECTS
  const head = [['KB gzip, minified', `**${own}**`, ...peers], SUBJECTS.map(() => '---').concat('---')]
  return [...head, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function formatted(bytes: number): string {
  return (bytes / 1000).toFixed(bytes < 99_950 ? 1 : 0)
}
