import { join, resolve } from 'node:path'
import { Judge, Soundness } from './judge.ts'
import { copyTree, sourcesOf } from './copies.ts'
import { equivalentOf, type Equivalent } from './equivalents.ts'
import { Knowledge } from './knowledge.ts'
import { draw, type Mutant } from './mutants.ts'
import { Ranking } from './ranking.ts'
import { Types } from './types.ts'

export interface Settings {
  readonly root: string
  readonly seed: number
  readonly count: number
  readonly jobs: number
  /** Mutates only the files whose path begins with this. */
  readonly only?: string
  readonly equivalents: readonly Equivalent[]
  /** Called with one line after each step. */
  progress(line: string): void
}

export interface Verdict {
  readonly mutant: Mutant
  readonly killed: boolean
  /** The test that failed, or the tests that passed. */
  readonly by: string
  /** The row that says why it changes nothing observable; such a mutant is not tested. */
  readonly equivalent?: Equivalent
  /** Set if no test detected it but the compiler rejects it. */
  readonly refused?: true
  readonly seconds: number
}

/** Draws mutants, runs the tests that should detect each one, and returns the verdicts. */
export async function mutate(settings: Settings): Promise<readonly Verdict[]> {
  const { root, seed, count, only = 'src/', equivalents, progress } = settings
  const sources = sourcesOf(root)
  const mutants = draw(new Map([...sources].filter(([file]) => file.startsWith(only))), seed, count)
  if (mutants.length === 0)
    throw new Error(`there is nothing to mutate in ${only}; name a folder or file of src`)
  const base = resolve(root, '.cache', 'mutate')
  const knowledge = new Knowledge(join(base, 'knowledge.json'))
  const soundness = new Soundness()
  const types = new Types(root, join(base, 'types'), sources)
  const ranking = new Ranking(root, sources, knowledge)
  const judges = Array.from({ length: Math.min(settings.jobs, mutants.length) }, (_, index) => {
    const copy = copyTree(root, join(base, String(index + 1)))
    return new Judge({ copy, sources, ranking, knowledge, soundness })
  })
  await judges[0]?.checkScenarios()
  progress('the in-memory scenarios pass without a mutant')
  const verdicts: Verdict[] = []
  let next = 0
  const work = async (judge: Judge): Promise<void> => {
    while (next < mutants.length) {
      const at = next++
      const mutant = mutants[at]!
      const began = performance.now()
      const equivalent = equivalentOf(equivalents, mutant, sources.get(mutant.file) ?? '')
      const { killed, by } =
        equivalent !== undefined ? { killed: false, by: 'known' } : await judge.judge(mutant)
      const refused = equivalent === undefined && !killed && (await types.reject(mutant))
      const seconds = (performance.now() - began) / 1000
      const why = { ...(equivalent && { equivalent }), ...(refused && { refused }) }
      const verdict: Verdict = { mutant, killed, by, seconds, ...why }
      verdicts[at] = verdict
      progress(
        `${at + 1}/${mutants.length} ${stateOf(verdict)} in ${seconds.toFixed(0)} s: ${placeOf(mutant)}, ${by}`,
      )
      knowledge.save()
    }
  }
  await Promise.all(judges.map(work))
  for (const file of soundness.broken) progress(`ignored, since it fails without a mutant: ${file}`)
  return verdicts
}

export type State = 'killed' | 'equivalent' | 'refused' | 'survived'

export function stateOf({ killed, equivalent, refused }: Verdict): State {
  if (killed) return 'killed'
  return equivalent ? 'equivalent' : refused === true ? 'refused' : 'survived'
}

/** `src/file.ts:12 swap operator`. */
function placeOf({ file, line, kind }: Mutant): string {
  return `${file}:${line} ${kind}`
}
