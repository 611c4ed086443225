import type { Size } from './measure.ts'
import { SUBJECTS, TASKS, type Subject } from './programs.ts'

type Column = keyof Omit<Size, 'subject' | 'task'>

const WAYS: readonly (readonly [label: string, columns: readonly Column[]])[] = [
  ['one file, esbuild', ['single']],
  ['initial / all chunks, esbuild', ['initial', 'total']],
  ['initial / all chunks, Vite', ['viteInitial', 'viteTotal']],
]

interface Line {
  readonly task: string
  readonly way: string
  /** One for each subject, in order; empty where there is no such program. */
  readonly cells: readonly string[]
}

/** What was measured, as lines: each task in each way, in KB. */
export function linesOf(sizes: readonly Size[]): readonly Line[] {
  const cell = (task: string, subject: Subject, columns: readonly Column[]): string => {
    const size = sizes.find((one) => one.task === task && one.subject === subject)
    return columns.flatMap((column) => (size?.[column] === undefined ? [] : shown(size[column]))).join(' / ')
  }
  return Object.values(TASKS).flatMap((task) =>
    WAYS.map(([way, columns]) => ({
      task,
      way,
      cells: SUBJECTS.map((subject) => cell(task, subject, columns)),
    })),
  )
}

/** The table for a terminal. */
export function tableText(sizes: readonly Size[]): string {
  const rows = [
    ['KB gzip, minified', '', ...SUBJECTS],
    ...linesOf(sizes).map(({ task, way, cells }) => [task, way, ...cells]),
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

/** The table for the README. */
export function markdownTable(sizes: readonly Size[]): string {
  const rows = linesOf(sizes).map(({ task, way, cells }) => {
    const [own = '', ...peers] = cells
    return [`${task}: ${way}`, `**${own}**`, ...peers.map((text) => text || '–')]
  })
  const [own, ...peers] = SUBJECTS
  const head = [['KB gzip, minified', `**${own}**`, ...peers], SUBJECTS.map(() => '---').concat('---')]
  return [...head, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function shown(bytes: number): string {
  return (bytes / 1000).toFixed(bytes < 99_950 ? 1 : 0)
}
