import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Revision } from '../../protocol/revisions.ts'
import type { Command, Invocation } from '../command.ts'
import { TARGET_OPTIONS } from '../common-options.ts'
import { EXIT } from '../exit.ts'
import { Failure, wrongUsage } from '../failure.ts'
import type { Output } from '../output.ts'
import { safe, safeLine } from '../safe-text.ts'
import { onlyTarget } from '../target.ts'
import { doorsOf } from '../validate-doors.ts'
import { FORMATS, formatReport, type Format } from '../../validate/report-formats.ts'
import type { Group, Report } from '../../validate/result.ts'

/** The most time for a whole run. */
const RUN_MS = 60_000
/** How long to wait for one answer, unless --timeout says otherwise. */
const ANSWER_MS = 5_000

export const validate: Command = {
  name: 'validate',
  group: 'Check a server',
  summary: 'check that a server follows the protocol, at every revision that it supports',
  details:
    'Speaks to the server as a client that also makes mistakes, and compares what it does with the rules of the specification. It only reads, unless --allow-calls ' +
    'permits calls of tools; rules that need one are then not checked. It ends with code 8 if a rule that must hold is broken.',
  arguments: [
    {
      name: 'target',
      summary: 'a URL, a file, a name of an mcp.json file, or a program after --',
      isOptional: true,
    },
  ],
  options: [
    { flags: '--target <revision>', summary: 'only this revision: 2025-11-25, or 2025-11 for short' },
    {
      flags: '--allow-calls',
      summary: 'call the tools of the server too, with arguments made from their schemas',
    },
    { flags: '--rule <id>', summary: 'only this rule, such as R005', isMany: true },
    { flags: '--strict', summary: 'end with code 8 for warnings too' },
    { flags: '--format <format>', summary: 'print the result for other programs', choices: FORMATS },
    { flags: '--report <file>', summary: 'also write an HTML page with the exchanges' },
    ...TARGET_OPTIONS,
  ],
  examples: [
    ['validate http://localhost:3000/mcp', 'checks all revisions that the server supports'],
    ['validate --target 2025-11 --server-url http://localhost:3000/mcp', 'checks one revision'],
    ['validate server.ts --report report.html', 'also writes a page with all exchanges'],
    ['validate server.ts --allow-calls', 'starts server.ts, and also calls its tools'],
  ],
  async run(invocation) {
    const { words, rest, flags, io, output } = invocation
    const revisions = revisionsOf(flags.text('target'))
    const target = onlyTarget({ words, program: rest }, flags, io)
    const [{ validateServer }, { groupsOf, reportOf, weightOf }] = await Promise.all([
      import('../../validate/server-run.ts'),
      import('../../validate/result.ts'),
    ])
    const only = flags.list('rule')
    let place = ''
    const { outcomes, places } = await validateServer({
      doors: await doorsOf(target, invocation),
      revisions,
      mayCall: flags.is('allow-calls'),
      ms: answerMs(flags.text('timeout')),
      only: only.length > 0 ? only : undefined,
      until: performance.now() + RUN_MS,
      signal: io.signal,
      onPlace: (revision, transport) => {
        place = `${revision} on ${transport}`
      },
      onOutcome: (_outcome, done, all) => output.status(`${place}: rule ${done} of ${all}`),
    })
    output.status('')
    if (io.signal.aborted) return EXIT.interrupted
    if (outcomes.length === 0)
      throw new Failure(
        only.length > 0
          ? 'no rule with this id applies'
          : `${target.label} could not be checked: ${places[0]?.problem ?? 'no rule applies'}`,
        {
          exit: only.length > 0 ? EXIT.usage : EXIT.unreachable,
          hint: 'pierhead doctor finds out what is wrong with the way to it.',
        },
      )
    const report = reportOf(target.label, outcomes, places)
    const failed = groupsOf(outcomes.filter(({ is }) => is === 'failed'))
    const unchecked = groupsOf(outcomes.filter(({ is }) => is === 'unchecked'))
    await writePage(report, flags.text('report'), invocation)
    const format = flags.text('format')
    if (format === undefined)
      await output.data(report, () => textOf(report, failed, unchecked, weightOf, output))
    else await output.raw(formatReport(report, format as Format))
    const isBad = report.counts.failures > 0 || (flags.is('strict') && report.counts.warnings > 0)
    return isBad ? EXIT.checks : EXIT.ok
  },
}

/** Writes the page that was asked for. */
async function writePage(
  report: Report,
  file: string | undefined,
  { io, output }: Invocation,
): Promise<void> {
  if (file === undefined) return
  const { htmlReport } = await import('../../validate/report-html.ts')
  const path = resolve(io.cwd, file)
  try {
    await writeFile(path, htmlReport(report))
  } catch (cause) {
    throw new Failure(`the report could not be written to ${file}: ${(cause as Error).message}`, { cause })
  }
  output.note(`Wrote ${file}.`)
}

/** The revision that was asked for; a month is enough. */
function revisionsOf(text: string | undefined): readonly Revision[] | undefined {
  if (text === undefined) return undefined
  const known = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const
  const found = known.find((one) => one === text || one.slice(0, 7) === text)
  if (found === undefined)
    throw wrongUsage(`"${text}" is not a revision`, `The revisions are ${known.join(', ')}.`)
  return [found]
}

function answerMs(text: string | undefined): number {
  if (text === undefined) return ANSWER_MS
  const found = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text)
  if (found === null) throw wrongUsage(`--timeout ${text} is not a duration`, 'Write 500ms, 5s or 1m.')
  return Number(found[1]) * { ms: 1, s: 1_000, m: 60_000 }[found[2] as 'ms' | 's' | 'm']
}

function textOf(
  { score, counts, places }: Report,
  failed: readonly Group[],
  unchecked: readonly Group[],
  weightOf: (outcome: Group['first']) => 'failure' | 'warning',
  { colors }: Output,
): string {
  const lines: string[] = []
  for (const { first, where } of failed) {
    const isFailure = weightOf(first) === 'failure'
    const mark = isFailure ? colors.red('✗') : colors.yellow('!')
    lines.push(`${mark} ${colors.bold(first.id)} ${first.rule}`)
    lines.push(`  ${safe(first.found ?? '')} ${colors.dim(`(${where.join(', ')})`)}`)
    for (const { from, text } of (first.entries ?? []).slice(-4))
      lines.push(colors.dim(`    ${from === 'peer' ? '←' : '→'} ${safeLine(text, 160)}`))
    lines.push(`  ${colors.cyan('fix:')} ${first.fix}`, '')
  }
  for (const [why, ids] of reasonsOf(unchecked))
    lines.push(
      colors.dim(
        `- not checked, because ${safeLine(why, 200)}: ${ids.length > 8 ? `${ids.length} rules` : ids.join(', ')}`,
      ),
    )
  const spoken = places.map(({ transport, revisions, problem }) =>
    problem === undefined
      ? `${transport}: ${revisions.join(', ')}`
      : `${transport}: ${safeLine(problem, 200)}`,
  )
  lines.push('', ...spoken)
  lines.push(
    `${counts.passed} passed, ${counts.failures} failed, ${counts.warnings} warnings, ${counts.unchecked} not checked, ${counts.absent} do not apply; score ${score} of 100`,
  )
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
