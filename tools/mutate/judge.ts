import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Copy } from './copies.ts'
import { clearHits, HITS, readHits, type Knowledge } from './knowledge.ts'
import { apply, type Mutant } from './mutants.ts'
import type { Ranking } from './ranking.ts'
import { runTests, type RunOptions, type Outcome } from './test-run.ts'
import { instrument, unitAt, unitsOf } from './units.ts'

/** Test files that pass without a mutant, and those that do not. */
export class Soundness {
  readonly sound: Set<string> = new Set()
  readonly broken: Set<string> = new Set()
}

interface Tools {
  readonly copy: Copy
  readonly sources: ReadonlyMap<string, string>
  readonly ranking: Ranking
  readonly knowledge: Knowledge
  readonly soundness: Soundness
}

const MARKS = fileURLToPath(new URL('marks.ts', import.meta.url))
const SCENARIOS = 'test/scenarios'
const IN_MEMORY = '· memory '
const MAX_TRIES = 5
/** The number of test files that run before the scenarios; the other related ones run after them. */
const NEAR = 14

// oxfmt-ignore
const TRANSPORTS: Readonly<Record<string, readonly string[]>> = {
  stdio: ['stdio'], lines: ['stdio', 'tcp', 'tls', 'unix'], http: ['http', 'sse'], sse: ['sse'], ws: ['ws'], tcp: ['tcp', 'tls', 'unix'],
}

/**
 * A title pattern that skips scenarios over transports unrelated to the source, since the same scenarios also run in
 * memory.
 */
function withoutForeign(source: string): string {
  const own = TRANSPORTS[/^src\/transport\/(\w+)\//.exec(source)?.[1] ?? ''] ?? []
  const all = new Set(Object.values(TRANSPORTS).flat())
  const foreign = [...all].filter((name) => !own.includes(name))
  return `^(?!.* · (?:${foreign.join('|')}) \\d{4}-)`
}

/** Tests one mutant after the other in a copy of the tree. */
export class Judge {
  readonly #tools: Tools

  constructor(tools: Tools) {
    this.#tools = tools
    clearHits(tools.copy.folder)
    for (const file of tools.sources.keys()) this.#restore(file)
  }

  /** Throws if the in-memory scenarios fail without a mutant. */
  async checkScenarios(): Promise<void> {
    const { state, file, title } = await this.#runScenarios()
    if (state !== 'passed') throw new Error(`without a mutant, ${file ?? SCENARIOS} ${state}: ${title ?? ''}`)
  }

  /**
   * Whether the tests detect a mutant: first those nearest to it, then the in-memory scenarios, then the other related
   * ones. A failure counts only in a test file that ran the mutant and passes without it.
   */
  async judge(mutant: Mutant): Promise<{ readonly killed: boolean; readonly by: string }> {
    const { sources, ranking, soundness } = this.#tools
    const { file } = mutant
    const text = apply(sources.get(file) ?? '', mutant)
    const unit = `${file}#${unitAt(unitsOf(file, text), mutant.start).name}`
    const unrelated = new Set<string>()
    try {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const tests = ranking.choose(mutant, new Set([...soundness.broken, ...unrelated]))
        this.#write(file, text)
        const near = await this.#run(tests.slice(0, NEAR), file)
        const inScenarios = near.state === 'passed' ? await this.#runScenarios() : near
        const rest = tests.slice(NEAR)
        const found = inScenarios.state === 'passed' ? await this.#run(rest, file) : inScenarios
        if (found.state === 'passed')
          return { killed: false, by: `${tests.length} test files and the scenarios pass` }
        if (found.state === 'broken') continue
        const isScenario = found === inScenarios && found !== near
        if (isScenario || found.file === undefined) {
          // The scenarios passed before the first mutant, so a second failure or hang is due to this one.
          const same = found === near ? tests.slice(0, NEAR) : rest
          const again = isScenario ? await this.#runScenarios() : await this.#run(same, file)
          if (again.state === 'passed' || again.state === 'broken') continue
          return { killed: true, by: describe(found) }
        }
        const ran = readHits(this.#tools.copy.folder).get(found.file)?.has(unit) === true
        this.#restore(file)
        if (!ran) unrelated.add(found.file)
        else if (await this.#isSound(found.file, file)) return { killed: true, by: describe(found) }
      }
      return { killed: false, by: `${MAX_TRIES} runs failed for reasons other than the mutant` }
    } finally {
      this.#restore(file)
    }
  }

  /** Whether a test file that failed passes without the mutant, so that its failure counts. */
  async #isSound(test: string, file: string): Promise<boolean> {
    const { sound, broken } = this.#tools.soundness
    if (sound.has(test) || broken.has(test)) return sound.has(test)
    // On a busy machine it may fail once.
    const isSound = (await this.#passes(test, file)) || (await this.#passes(test, file))
    ;(isSound ? sound : broken).add(test)
    return isSound
  }

  async #passes(test: string, file: string): Promise<boolean> {
    return (await this.#run([test], file)).state === 'passed'
  }

  async #run(files: readonly string[], source: string): Promise<Outcome> {
    if (files.length === 0) return { state: 'passed', files: [] }
    return this.#runAndLearn({ files, workers: 1, bail: true, only: withoutForeign(source) })
  }

  #runScenarios(): Promise<Outcome> {
    const { copy } = this.#tools
    const files = readdirSync(join(copy.folder, SCENARIOS)).filter((file) => file.endsWith('.test.ts'))
    const options = { only: IN_MEMORY, together: true, workers: 1, bail: true }
    clearHits(copy.folder)
    return runTests(copy.folder, { ...options, files: files.map((file) => `${SCENARIOS}/${file}`) })
  }

  async #runAndLearn(options: RunOptions): Promise<Outcome> {
    const { copy, knowledge } = this.#tools
    clearHits(copy.folder)
    const outcome = await runTests(copy.folder, { ...options, setup: MARKS })
    const passed = outcome.files.filter((file) => file.passed)
    knowledge.learn(readHits(copy.folder), new Map(passed.map(({ file, seconds }) => [file, seconds])))
    return outcome
  }

  #restore(file: string): void {
    this.#write(file, this.#tools.sources.get(file) ?? '')
  }

  #write(file: string, text: string): void {
    const { copy } = this.#tools
    copy.write(file, instrument(file, text, join(copy.folder, HITS)))
  }
}

function describe({ state, file, title }: Outcome): string {
  if (state === 'hung') return 'the tests hang'
  return [file, title].filter((part) => part !== undefined).join(' › ')
}
