import type { Output } from './output.ts'
import { safeLine } from './safe-text.ts'
import {
  groupsOf,
  incompleteText,
  isBroken,
  summaryOf,
  weightOf,
  type Group,
  type Report,
} from '../validate/result.ts'

/** The most characters of a finding, and of a reason. */
const MOST_FOUND = 1_000
/** How often a run that nobody watches says where it is. */
const EVERY_MS = 10_000

/** A report for people. The last line says what is missing, if anything is. */
export function textOf(report: Report, { colors }: Pick<Output, 'colors'>): string {
  const { outcomes, places } = report
  const lines: string[] = []
  for (const { first, where } of groupsOf(outcomes.filter(isBroken))) {
    const mark = weightOf(first) === 'failure' ? colors.red('✗') : colors.yellow('!')
    lines.push(`${mark} ${colors.bold(first.id)} ${first.rule}`)
    lines.push(`  ${safeLine(first.found ?? '', MOST_FOUND)} ${colors.dim(`(${where.join(', ')})`)}`)
    for (const { from, text } of (first.entries ?? []).slice(-4))
      lines.push(colors.dim(`    ${from === 'peer' ? '←' : '→'} ${safeLine(text, 160)}`))
    lines.push(`  ${colors.cyan('fix:')} ${first.fix}`, '')
  }
  for (const { first, where } of groupsOf(outcomes.filter(({ isIgnored }) => isIgnored === true)))
    lines.push(
      colors.dim(`- ignored: ${first.id} ${safeLine(first.found ?? '', MOST_FOUND)} (${where.join(', ')})`),
    )
  for (const [why, ids] of reasonsOf(groupsOf(outcomes.filter(({ is }) => is === 'unchecked'))))
    lines.push(
      colors.dim(
        `- not checked, because ${safeLine(why, MOST_FOUND)}: ${ids.length > 8 ? `${ids.length} rules` : ids.join(', ')}`,
      ),
    )
  for (const { first, where } of groupsOf(
    outcomes.filter(({ is, found }) => is === 'passed' && found !== undefined),
  ))
    lines.push(colors.dim(`- ${first.id} ${first.found ?? ''} (${where.join(', ')})`))
  const spoken = places.map(({ transport, revisions, problem }) =>
    problem === undefined
      ? `${transport}: ${revisions.join(', ')}`
      : `${transport}: ${safeLine(problem, 200)}`,
  )
  lines.push('', ...spoken, summaryOf(report))
  const late = incompleteText(report)
  if (late !== undefined) lines.push(colors.yellow(late))
  return lines.join('\n').trim()
}

/** The rules that were not checked, by the reason. */
function reasonsOf(unchecked: readonly Group[]): ReadonlyMap<string, readonly string[]> {
  const reasons = new Map<string, string[]>()
  for (const { first } of unchecked) {
    const why = first.found ?? ''
    reasons.set(why, [...new Set([...(reasons.get(why) ?? []), first.id])])
  }
  return reasons
}

/** Says where a run is: on a terminal in the status line, and elsewhere in a note from time to time. */
export class RunProgress implements Disposable {
  readonly #output: Pick<Output, 'isWatched' | 'status' | 'note'>
  readonly #timer: NodeJS.Timeout | undefined
  #last = ''

  constructor(output: Pick<Output, 'isWatched' | 'status' | 'note'>) {
    this.#output = output
    if (!output.isWatched) this.#timer = setInterval(() => this.#tell(), EVERY_MS).unref()
  }

  at(text: string): void {
    this.#last = text
    this.#output.status(text)
  }

  #tell(): void {
    if (this.#last !== '') this.#output.note(this.#last)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#output.status('')
  }
}
