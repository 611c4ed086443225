import { stateOf, type State, type Verdict } from './mutate.ts'

/** The share of behaviour-changing mutants that the tests must kill. */
const GOAL = 0.95

type Counts = Readonly<Record<State, number>>

function countsOf(verdicts: readonly Verdict[]): Counts {
  const counts = { killed: 0, equivalent: 0, refused: 0, survived: 0 }
  for (const verdict of verdicts) counts[stateOf(verdict)]++
  return counts
}

/** Whether the killed share of the mutants that compile and change behaviour is below the goal. */
export function tooFew(verdicts: readonly Verdict[]): boolean {
  const { killed, survived } = countsOf(verdicts)
  return killed < GOAL * (killed + survived)
}

/** The output of `--json`: one row per mutant. */
export function toRows(verdicts: readonly Verdict[]): readonly object[] {
  return verdicts.map((verdict) => {
    const { file, line, kind, original, mutated } = verdict.mutant
    const { by, seconds, equivalent } = verdict
    const reason = equivalent && { reason: equivalent.reason }
    return { state: stateOf(verdict), file, line, kind, original, mutated, by, seconds, ...reason }
  })
}

/** The survivors and a summary. */
export function report(verdicts: readonly Verdict[]): string {
  const { killed, survived, equivalent, refused } = countsOf(verdicts)
  const share = killed + survived === 0 ? 100 : (100 * killed) / (killed + survived)
  return [
    ...verdicts.filter((verdict) => stateOf(verdict) === 'survived').flatMap(describe),
    '',
    `${killed} killed, ${survived + equivalent} survived, ${equivalent} of them judged equivalent`,
    ...(refused > 0 ? [`${refused} more that no test detected do not compile`] : []),
    `${share.toFixed(1)} % of the mutants that change behaviour were killed; the goal is ${GOAL * 100} %`,
  ].join('\n')
}

function describe({ mutant, by }: Verdict): readonly string[] {
  const { file, line, kind, original, mutated } = mutant
  return [`${file}:${line}  ${kind} (${by})`, `  - ${shorten(original)}`, `  + ${shorten(mutated)}`]
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 160 ? `${line.slice(0, 159)}…` : line
}
