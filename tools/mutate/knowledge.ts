import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What earlier runs showed about a test file. */
export interface Known {
  /** Its duration. */
  readonly seconds: number
  /** The units of the sources that ran, as `src/file.ts#unit`. */
  readonly hits: ReadonlySet<string>
}

/** The folder in which each instrumented process of a copy logs the units that it ran. */
export const HITS: string = join('.cache', 'hits')

/** What is known about test files. It only determines their order, so stale data costs only time. */
export class Knowledge {
  readonly #file: string
  readonly #tests = new Map<string, Known>()

  constructor(file: string) {
    this.#file = file
    if (!existsSync(file)) return
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Record<string, { seconds: number; hits: string[] }>
    for (const [test, { seconds, hits }] of Object.entries(kept))
      this.#tests.set(test, { seconds, hits: new Set(hits) })
  }

  get(test: string): Known | undefined {
    return this.#tests.get(test)
  }

  /** Adds the hits of passing test files; a run may have skipped some of their tests. */
  learn(hits: ReadonlyMap<string, ReadonlySet<string>>, seconds: ReadonlyMap<string, number>): void {
    for (const [test, units] of hits) {
      const took = seconds.get(test)
      const before = this.#tests.get(test)?.hits ?? []
      if (took !== undefined) this.#tests.set(test, { seconds: took, hits: new Set([...before, ...units]) })
    }
  }

  save(): void {
    const kept = [...this.#tests].map(([test, { seconds, hits }]) => [test, { seconds, hits: [...hits] }])
    mkdirSync(dirname(this.#file), { recursive: true })
    writeFileSync(this.#file, JSON.stringify(Object.fromEntries(kept)))
  }
}

/** Deletes the hits of the previous run. */
export function clearHits(folder: string): void {
  rmSync(join(folder, HITS), { recursive: true, force: true })
  mkdirSync(join(folder, HITS), { recursive: true })
}

/** The units that each test file ran, in its own process and in child processes; the empty name has all units. */
export function readHits(folder: string): ReadonlyMap<string, ReadonlySet<string>> {
  const parents = new Map<string, string>()
  const owners = new Map<string, string>()
  const found: (readonly [process: string, test: string | undefined, unit: string])[] = []
  for (const process of readdirSync(join(folder, HITS))) {
    let test: string | undefined
    for (const line of readFileSync(join(folder, HITS, process), 'utf8')
      .trimEnd()
      .split('\n')) {
      const space = line.indexOf(' ')
      const [first, rest] = [line.slice(0, space), line.slice(space + 1)]
      if (first === '=') owners.set(process, (test = rest))
      else {
        parents.set(process, first)
        found.push([process, test, rest])
      }
    }
  }
  const ownerOf = (process: string | undefined): string | undefined =>
    process === undefined ? undefined : (owners.get(process) ?? ownerOf(parents.get(process)))
  const hits = new Map<string, Set<string>>([['', new Set()]])
  for (const [process, test = ownerOf(process), unit] of found) {
    hits.get('')?.add(unit)
    if (test === undefined) continue
    if (!hits.has(test)) hits.set(test, new Set())
    hits.get(test)?.add(unit)
  }
  return hits
}
