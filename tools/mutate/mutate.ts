import { join, resolve } from 'node:path'
import { Bench, Soundness } from './bench.ts'
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
  /** Mutates only the files whose path begins so. */
  readonly only?: string
  readonly equivalents: readonly Equivalent[]
  /** Called with one line whenever something was done. */
  progress(line: string): void
}

export interface Verdict {
  readonly mutant: Mutant
  readonly killed: boolean
  /** The test that failed, or what was run in vain. */
  readonly by: string
  /** The row that says why nobody can notice it; such a mutant meets no test. */
  readonly equivalent?: Equivalent
  /** Set where no test noticed it, but the compiler refuses it. */
  readonly refused?: true
  readonly seconds: number
}

/** Draws mutants, lets each meet the tests that should notice it, and tells which of them no test noticed. */
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
  const benches = Array.from({ length: Math.min(settings.jobs, mutants.length) }, (_, index) => {
    const copy = copyTree(root, join(base, String(index + 1)))
    return new Bench({ copy, sources, ranking, knowledge, soundness })
  })
  await benches[0]?.prove()
  progress('the in-memory scenarios pass without a mutant')
  const verdicts: Verdict[] = []
  let next = 0
  const work = async (bench: Bench): Promise<void> => {
    while (next < mutants.length) {
      const at = next++
      const mutant = mutants[at]!
      const began = performance.now()
      const equivalent = equivalentOf(equivalents, mutant, sources.get(mutant.file) ?? '')
      const { killed, by } =
        equivalent !== undefined ? { killed: false, by: 'known' } : await bench.judge(mutant)
      const refused = equivalent === undefined && !killed && (await types.refuse(mutant))
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
  await Promise.all(benches.map(work))
  for (const file of soundness.broken) progress(`left out, since it fails without a mutant: ${file}`)
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
