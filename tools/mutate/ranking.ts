import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join, posix } from 'node:path'
import { importsOf } from '../imports.ts'
import type { Knowledge } from './knowledge.ts'
import type { Mutant } from './mutants.ts'
import { functionOf, unitAt, unitsOf } from './units.ts'

/** The maximum number of test files that run for a mutant. */
const MAX_FILES = 60
const USUAL_SECONDS = 4
const FAR = 10

type Words = ReadonlyMap<string, number>

/** Orders the test files of a tree by how likely and how quickly they detect a mutant. */
export class Ranking {
  readonly #sources: ReadonlyMap<string, string>
  readonly #knowledge: Knowledge
  /** The files that each test file imports, with their distance, and the words used in it and in the test code it imports. */
  readonly #tests = new Map<
    string,
    { readonly reach: ReadonlyMap<string, number>; readonly words: ReadonlySet<string> }
  >()
  readonly #rarity: Words

  constructor(root: string, sources: ReadonlyMap<string, string>, knowledge: Knowledge) {
    this.#sources = sources
    this.#knowledge = knowledge
    const texts = new Map<string, readonly [text: string, imports: readonly string[]]>()
    for (const test of testsOf(root)) {
      const reach = reachOf(root, test, texts)
      const own = [...reach.keys()].filter((file) => !file.startsWith('src/') || file === test)
      const words = new Set(own.flatMap((file) => wordsOf(`${texts.get(file)?.[0]} ${file}`)))
      this.#tests.set(test, { reach, words })
    }
    const counts = new Map<string, number>()
    for (const { words } of this.#tests.values())
      for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
    this.#rarity = new Map([...counts].map(([word, count]) => [word, Math.log(this.#tests.size / count)]))
  }

  /** The test files to run for a mutant, the best first. */
  choose(mutant: Mutant, excluded: ReadonlySet<string>): readonly string[] {
    const ranked = [...this.#tests.keys()]
      .filter((test) => !excluded.has(test))
      .map((test) => [test, this.#score(mutant, test)] as const)
      .filter(([, score]) => score > 0)
      .toSorted(([, one], [, other]) => other - one)
    return ranked.slice(0, MAX_FILES).map(([test]) => test)
  }

  #score(mutant: Mutant, test: string): number {
    const { file } = mutant
    if (test.startsWith(`${file.slice(0, -3)}.`)) return Infinity
    const reach = this.#tests.get(test)?.reach
    // A table is often pinned by a test of another name beside it; every test that loads the table runs all of it.
    if (posix.dirname(test) === posix.dirname(file) && reach?.get(file) === 1) return Number.MAX_VALUE
    const known = this.#knowledge.get(test)
    if (known === undefined && !reach?.has(file)) return 0
    const likelihood = known ? this.#likelihood(mutant, known.hits) : 10
    const distance = reach?.get(file) ?? FAR
    const affinity = 0.1 + this.#affinity(mutant, test) + Math.max(0, 1.2 - distance / 3)
    return (likelihood * affinity ** 2) / Math.sqrt((known?.seconds ?? USUAL_SECONDS) + 1)
  }

  /** The likelihood of detection by what the test ran: the same branch, the function, or only the file. */
  #likelihood({ file, start }: Mutant, hits: ReadonlySet<string>): number {
    const unit = unitAt(unitsOf(file, this.#sources.get(file) ?? ''), start).name
    if (!hits.has(`${file}#`)) return 0
    if (hits.has(`${file}#${unit}`)) return 40
    return hits.has(`${file}#${functionOf(unit)}`) ? 5 : 1
  }

  /** The similarity between the words of the test and those of the source around the mutant. */
  #affinity({ file, start }: Mutant, test: string): number {
    const text = this.#sources.get(file) ?? ''
    const unit = unitAt(
      unitsOf(file, text).filter(({ name }) => !name.includes('/')),
      start,
    )
    const line = text.slice(text.lastIndexOf('\n', start) + 1, text.indexOf('\n', start))
    const around = unit.name === '' ? line : text.slice(unit.start, unit.end)
    const [about, words] = [new Set(wordsOf(`${file} ${unit.name} ${around}`)), this.#tests.get(test)?.words]
    const near = new Set(wordsOf(line))
    const weight = (word: string): number => (this.#rarity.get(word) ?? 0) * (near.has(word) ? 3 : 1)
    const all = [...about].reduce((sum, word) => sum + weight(word), 0)
    const common = [...about].filter((word) => words?.has(word)).reduce((sum, word) => sum + weight(word), 0)
    const path = wordsOf(`${file} ${line}`).filter((word) => wordsOf(test).includes(word))
    return (all === 0 ? 0 : common / all) + Math.min(1, new Set(path).size / 3)
  }
}

/** The test files that can detect a change of a source. The tests of this tool run other sources. */
function testsOf(root: string): readonly string[] {
  const folders = ['src', 'test', 'tools'].filter((folder) => existsSync(join(root, folder)))
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.test.ts') && !path.startsWith('tools/mutate/'))
      .toSorted(),
  )
}

type Texts = Map<string, readonly [text: string, imports: readonly string[]]>

/** Every file that a test file imports, with the number of steps to it. */
function reachOf(root: string, test: string, texts: Texts): ReadonlyMap<string, number> {
  const reach = new Map([[test, 0]])
  for (const [file, distance] of reach) {
    if (!texts.has(file)) {
      const text = readFileSync(join(root, file), 'utf8')
      const imports = importsOf(file, text).flatMap((specifier) => {
        const path = specifier.startsWith('#')
          ? ALIASES[specifier]
          : posix.join(posix.dirname(file), specifier)
        return path !== undefined && path.endsWith('.ts') && existsSync(join(root, path)) ? [path] : []
      })
      texts.set(file, [text, imports])
    }
    for (const path of texts.get(file)?.[1] ?? []) if (!reach.has(path)) reach.set(path, distance + 1)
  }
  return reach
}

/** The aliases in package.json for the transports that browsers lack. */
const ALIASES: Readonly<Record<string, string>> = {
  '#stdio': 'src/transport/stdio/client.ts',
  '#ws': 'src/transport/ws/socket.ts',
  '#tcp': 'src/transport/tcp/client.ts',
  '#listen': 'src/app/listen/listen.ts',
  '#node': 'src/transport/http/server/node.ts',
  '#hints': 'src/errors/hints.ts',
  '#lifetime': 'src/transport/http/server/lifetime.ts',
  '#pinned': 'src/auth/client/pinned.ts',
}

function wordsOf(text: string): readonly string[] {
  return (text.match(/[a-z]+|[A-Z][a-z]*|\d{3,}/g) ?? [])
    .map((word) => word.toLowerCase().replace(/s$/, ''))
    .filter((word) => word.length > 2 && !STOP_WORDS.has(word))
}

/** Words that occur in every path or file. */
const STOP_WORDS: ReadonlySet<string> = new Set([
  'src',
  'test',
  'const',
  'return',
  'import',
  'export',
  'function',
])
