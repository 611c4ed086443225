import { groupsOf, weightOf, type Report } from './result.ts'
import type { Outcome } from './run.ts'

export const FORMATS = ['json', 'junit', 'sarif', 'github'] as const

/** The formats of results for other programs. */
export type Format = (typeof FORMATS)[number]

/** A report in the form that another program reads. */
export function formatReport(report: Report, format: Format): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(report, undefined, 2)}\n`
    case 'junit':
      return junit(report)
    case 'sarif':
      return `${JSON.stringify(sarif(report), undefined, 2)}\n`
    case 'github':
      return github(report)
  }
}

/** JUnit: one suite for each revision and transport, one case for each rule. */
function junit({ target, at, outcomes }: Report): string {
  const places = [...new Set(outcomes.map(placeOf))]
  const suites = places.map((place) => {
    const own = outcomes.filter((one) => placeOf(one) === place)
    const count = (is: (one: Outcome) => boolean): number => own.filter(is).length
    const head = `<testsuite name="${xml(`${target} ${place}`)}" tests="${own.length}" failures="${count(isFailure)}" skipped="${count(isSkipped)}" timestamp="${at.slice(0, 19)}">`
    return [head, ...own.map(testCase), '</testsuite>'].join('\n')
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('\n')}\n</testsuites>\n`
}

function testCase(outcome: Outcome): string {
  const { id, rule, ms, found = '', fix } = outcome
  const open = `<testcase classname="${xml(placeOf(outcome))}" name="${xml(`${id} ${rule}`)}" time="${(ms / 1000).toFixed(3)}"`
  if (isFailure(outcome))
    return `${open}><failure message="${xml(found)}">${xml(`${fix}\n\n${exchange(outcome)}`)}</failure></testcase>`
  if (isSkipped(outcome)) return `${open}><skipped message="${xml(found)}"/></testcase>`
  // A warning does not fail a build, but should be seen.
  return outcome.is === 'failed'
    ? `${open}><system-out>${xml(`warning: ${found}\n${fix}`)}</system-out></testcase>`
    : `${open}/>`
}

/** SARIF 2.1.0, which code scanning reads. A server has no files, so the target is the place. */
function sarif({ target, outcomes }: Report): object {
  const failed = groupsOf(outcomes.filter(({ is }) => is === 'failed'))
  const ids = [...new Map(failed.map(({ first }) => [first.id, first])).values()]
  return {
    version: '2.1.0',
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    runs: [
      {
        tool: {
          driver: {
            name: 'pierhead validate',
            rules: ids.map(({ id, rule, fix, level }) => ({
              id,
              shortDescription: { text: rule },
              help: { text: fix },
              defaultConfiguration: { level: level === 'must' ? 'error' : 'warning' },
            })),
          },
        },
        results: failed.map(({ first, where }) => ({
          ruleId: first.id,
          level: weightOf(first) === 'failure' ? 'error' : 'warning',
          message: { text: `${first.found ?? first.rule} (${where.join(', ')}). ${first.fix}` },
          locations: [
            {
              physicalLocation: { artifactLocation: { uri: encodeURI(target) } },
              logicalLocations: [{ fullyQualifiedName: where[0] ?? target }],
            },
          ],
        })),
      },
    ],
  }
}

/** Commands of GitHub workflows, which show annotations. */
function github({ outcomes, score, counts }: Report): string {
  const lines = groupsOf(outcomes.filter(({ is }) => is === 'failed')).map(({ first, where }) => {
    const kind = weightOf(first) === 'failure' ? 'error' : 'warning'
    return `::${kind} title=${property(`${first.id} ${first.rule}`)}::${data(`${first.found ?? ''} (${where.join(', ')})\nfix: ${first.fix}`)}`
  })
  const total = `::notice title=pierhead validate::${data(`score ${score} of 100: ${counts.passed} passed, ${counts.failures} failed, ${counts.warnings} warnings, ${counts.unchecked} not checked`)}`
  return `${[...lines, total].join('\n')}\n`
}

function placeOf({ revision, transport }: Outcome): string {
  return `${revision} ${transport}`
}

function isFailure(outcome: Outcome): boolean {
  return outcome.is === 'failed' && weightOf(outcome) === 'failure'
}

function isSkipped({ is }: Outcome): boolean {
  return is === 'absent' || is === 'unchecked'
}

function exchange({ entries = [] }: Outcome): string {
  return entries.map(({ from, text }) => `${from === 'peer' ? '<-' : '->'} ${text}`).join('\n')
}

/** Text for XML: characters that it does not allow are replaced. */
function xml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Text in a command of a workflow, where a line of a server must not begin another command. */
function data(text: string): string {
  return text
    .replaceAll('%', '%25')
    .replaceAll('\r', '%0D')
    .replaceAll('\n', '%0A')
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
