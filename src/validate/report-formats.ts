import { hiddenOr } from '../base/hidden-text.ts'
import { safeJson } from '../base/safe-json.ts'
import { escaped } from '../errors/printable.ts'
import { inOneLine } from './mask.ts'
import { groupsOf, incompleteText, isBroken, summaryOf, weightOf, type Report } from './result.ts'
import type { Outcome } from './run.ts'

export const FORMATS = ['json', 'junit', 'sarif', 'github'] as const

/** The formats of results for other programs. */
export type Format = (typeof FORMATS)[number]

/** The name of the tool in reports. */
const NAME = 'pierhead validate'

/** A report in the form that another program reads. */
export function formatReport(report: Report, format: Format): string {
  switch (format) {
    case 'json':
      return `${safeJson(report, 2)}\n`
    case 'junit':
      return junit(report)
    case 'sarif':
      return `${safeJson(sarif(report), 2)}\n`
    case 'github':
      return github(report)
  }
}

/** JUnit: one suite for each revision and transport, one case for each rule. */
function junit(report: Report): string {
  const { target, at, outcomes, problem } = report
  const places = [...new Set(outcomes.map(placeOf))]
  const time = `timestamp="${at.slice(0, 19)}"`
  const suites = places.map((place) => {
    const own = outcomes.filter((one) => placeOf(one) === place)
    const count = (is: (one: Outcome) => boolean): number => own.filter(is).length
    const head = `<testsuite name="${xml(`${target} ${place}`)}" tests="${own.length}" failures="${count(isFailure)}" skipped="${count(isSkipped)}" ${time}>`
    return [head, ...own.map(testCase), '</testsuite>'].join('\n')
  })
  const error = problem ?? incompleteText(report)
  if (error !== undefined)
    suites.push(
      `<testsuite name="${xml(target)}" tests="1" failures="0" errors="1" skipped="0" ${time}>`,
      `<testcase classname="${xml(target)}" name="${NAME}"><error message="${xml(error)}"/></testcase>`,
      '</testsuite>',
    )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('\n')}\n</testsuites>\n`
}

function testCase(outcome: Outcome): string {
  const { id, rule, ms, found = '', fix, isIgnored } = outcome
  const open = `<testcase classname="${xml(placeOf(outcome))}" name="${xml(`${id} ${rule}`)}" time="${(ms / 1000).toFixed(3)}"`
  if (isFailure(outcome))
    return `${open}><failure message="${xml(found)}">${xml(`${fix}\n\n${exchange(outcome)}`)}</failure></testcase>`
  if (isSkipped(outcome))
    return `${open}><skipped message="${xml(isIgnored ? `ignored: ${found}` : found)}"/></testcase>`
  // A warning does not fail a build, but should be seen.
  return outcome.is === 'failed'
    ? `${open}><system-out>${xml(`warning: ${found}\n${fix}`)}</system-out></testcase>`
    : `${open}/>`
}

/** SARIF 2.1.0, which code scanning reads. It wants a place in a file, and a server may have none, so the target is a logical place too. */
function sarif(report: Report): object {
  const { target, outcomes, problem } = report
  const failed = groupsOf(outcomes.filter(({ is }) => is === 'failed'))
  const ids = [...new Map(failed.map(({ first }) => [first.id, first])).values()]
  const late = incompleteText(report)
  const notes = [
    ...(problem === undefined ? [] : [{ level: 'error', message: { text: problem } }]),
    ...(late === undefined ? [] : [{ level: 'warning', message: { text: late } }]),
  ]
  return {
    version: '2.1.0',
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    runs: [
      {
        tool: {
          driver: {
            name: NAME,
            rules: ids.map(({ id, rule, fix, level }) => ({
              id,
              shortDescription: { text: rule },
              help: { text: fix },
              defaultConfiguration: { level: level === 'must' ? 'error' : 'warning' },
            })),
          },
        },
        invocations: [
          {
            executionSuccessful: notes.length === 0,
            ...(notes.length > 0 && { toolExecutionNotifications: notes }),
          },
        ],
        results: failed.map(({ first, where }) => ({
          ruleId: first.id,
          level: weightOf(first) === 'failure' ? 'error' : 'warning',
          message: { text: `${first.found ?? first.rule} (${where.join(', ')}). ${first.fix}` },
          locations: [
            {
              physicalLocation: { artifactLocation: { uri: fileOf(target) }, region: { startLine: 1 } },
              logicalLocations: [{ name: target, fullyQualifiedName: `${target} ${where[0] ?? ''}`.trim() }],
            },
          ],
          ...(first.isIgnored === true && {
            suppressions: [{ kind: 'external', justification: `--ignore ${first.id}` }],
          }),
        })),
      },
    ],
  }
}

/** The path of a target that is a file of the project, and a name for every other one: code scanning accepts no addresses. */
function fileOf(target: string): string {
  const isFile = /^(?:\.\/)?[\w@-][\w.@/-]*\.[cm]?[jt]sx?$/.test(target) && !target.split('/').includes('..')
  return isFile ? target.replace(/^\.\//, '') : 'mcp-server'
}

/** Commands of GitHub workflows, which show annotations. */
function github(report: Report): string {
  const annotation = (kind: 'error' | 'warning' | 'notice', title: string, text: string): string =>
    `::${kind} title=${property(title)}::${data(text)}`
  if (report.problem !== undefined) return `${annotation('error', NAME, report.problem)}\n`
  const lines = groupsOf(report.outcomes.filter(isBroken)).map(({ first, where }) =>
    annotation(
      weightOf(first) === 'failure' ? 'error' : 'warning',
      `${first.id} ${first.rule}`,
      `${first.found ?? ''} (${where.join(', ')})\nfix: ${first.fix}`,
    ),
  )
  const late = incompleteText(report)
  if (late !== undefined) lines.push(annotation('warning', NAME, late))
  return `${[...lines, annotation('notice', NAME, summaryOf(report))].join('\n')}\n`
}

function placeOf({ revision, transport }: Outcome): string {
  return `${revision} ${transport}`
}

function isFailure(outcome: Outcome): boolean {
  return isBroken(outcome) && weightOf(outcome) === 'failure'
}

function isSkipped({ is, isIgnored }: Outcome): boolean {
  return is === 'absent' || is === 'unchecked' || isIgnored === true
}

function exchange({ entries = [] }: Outcome): string {
  return entries.map(({ from, text }) => `${from === 'peer' ? '<-' : '->'} ${inOneLine(text)}`).join('\n')
}

/** Characters that nobody sees, or that change what people see. */
const UNSAFE = hiddenOr(String.raw`(?![\t\n\r])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]`)

/** Text for XML: characters that it does not allow, and those that change what people see, are escaped. */
function xml(text: string): string {
  return escaped(text, UNSAFE)
    .replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Text in a command of a workflow, where a line of a server must not begin another command. */
function data(text: string): string {
  return escaped(text, UNSAFE).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
