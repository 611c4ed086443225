/**
 * Records the shapes of messages that pass the official schemas, for clones that do not have the schemas:
 * `npx tsx test/corpus/record.ts`. With `--again` it takes the messages that the last recording collected from tests.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { arbitrariesOf } from './arbitrary.ts'
import { toOfficial } from './checker.ts'
import { corpus, type Example } from './corpus.ts'
import { complaintsAbout, complaintsAboutLowered, isRound, isSharedBy, lowered } from './judged.ts'
import { describe } from './probe.ts'
import { recordingFile, type Recording } from './recorded.ts'
import { readSchemas, type Schemas } from './schemas.ts'
import { merged, misfitOf, type Shape } from './shape.ts'
import { findSource } from './source.ts'
import { withParts } from './parts.ts'

const SAMPLES = '.cache/schema-samples'
/** Of each message this many are generated: enough to meet every member at every depth. */
const GENERATED = 1500

class Recorder {
  readonly #schemas: Schemas
  readonly #shapes = new Map<string, Shape>()
  readonly #foreign = new Set<string>()

  constructor(schemas: Schemas) {
    this.#schemas = schemas
  }

  /** Learns from a valid value, unless the shape already describes it. */
  learn(name: string, value: unknown): void {
    const known = this.#shapes.get(name) ?? 'unseen'
    if (misfitOf(value, known, {}) === undefined) return
    if (this.#schemas.check(name, value, 'open') !== undefined) return
    if (!this.#schemas.isExact(name, value)) {
      this.#foreign.add(`${name}: ${JSON.stringify(value).slice(0, 300)}`)
      return
    }
    const shape = describe(value, (variation) => this.#schemas.isExact(name, variation))
    this.#shapes.set(name, merged(known, shape))
  }

  /** Values that are valid, but have members that the schema does not list. */
  get foreign(): readonly string[] {
    return [...this.#foreign]
  }

  recording(): Recording {
    return { methods: sorted(this.#schemas.methods), ...withParts(sorted(this.#shapes)) }
  }
}

function sorted<Value>(map: ReadonlyMap<string, Value>): Readonly<Record<string, Value>> {
  return Object.fromEntries([...map].sort(([one], [other]) => (one < other ? -1 : 1)))
}

function main(): void {
  const folder = findSource()
  if (folder === 'none')
    throw new Error('recording needs the official schemas: set PIERHEAD_SPEC to their folder')
  if (!process.argv.includes('--again')) runTests(folder)
  mkdirSync(SAMPLES, { recursive: true })
  const samples = readdirSync(SAMPLES).flatMap((file) =>
    readFileSync(`${SAMPLES}/${file}`, 'utf8').trim().split('\n'),
  )
  const parsed = samples.map((line) => JSON.parse(line) as Sample)
  const newest = [...corpus('2026-07-28'), ...generated('2026-07-28')]
  for (const revision of REVISIONS) record(revision, folder, parsed, newest)
  spawnSync('npx', ['oxfmt', ...REVISIONS.map(recordingFile)], { stdio: 'inherit' })
}

/** The scenarios over one transport: the others carry the same messages. */
function runTests(folder: string): void {
  rmSync(SAMPLES, { recursive: true, force: true })
  const env = { ...process.env, PIERHEAD_SPEC: folder, PIERHEAD_SAMPLES: SAMPLES }
  const tests = ['vitest', 'run', 'test/scenarios', '-t', '· memory']
  const { status } = spawnSync('npx', tests, { stdio: 'inherit', env })
  if (status !== 0) throw new Error('the tests that give the messages must pass')
}

interface Sample {
  readonly revision: Revision
  readonly name: string
  readonly value: unknown
}

function record(
  revision: Revision,
  folder: string,
  samples: readonly Sample[],
  newest: readonly Example[],
): void {
  const schemas = readSchemas(folder, revision)
  const recorder = new Recorder(schemas)
  const official = toOfficial({
    ...schemas,
    check: (name, value) => {
      recorder.learn(name, value)
      return undefined
    },
  })
  for (const example of corpus(revision)) complaintsAbout(example, revision, official)
  for (const example of generated(revision)) complaintsAbout(example, revision, official)
  if (revision !== '2026-07-28') {
    for (const example of newest.filter((one) => isSharedBy(one, revision) && !isRound(one)))
      complaintsAboutLowered(lowered(example, revision), revision, official)
  }
  const own = samples.filter((sample) => sample.revision === revision)
  for (const { name, value } of own) recorder.learn(name, value)
  const text = JSON.stringify(recorder.recording(), null, 1)
  writeFileSync(recordingFile(revision), `${text}\n`)
  console.log(`${revision}: ${text.length} characters`)
  for (const line of recorder.foreign.slice(0, 20)) console.log(`  not listed: ${line}`)
}

function generated(revision: Revision): readonly Example[] {
  return arbitrariesOf(revision).flatMap(({ kind, method, value }) =>
    fc
      .sample(value, { numRuns: GENERATED, seed: 1 })
      .map((one): Example => ({ name: 'generated', kind, method, value: one })),
  )
}

main()
