import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Revision } from '../../src/protocol/revisions.ts'
import type { Checker } from './checker.ts'
import { misfitOf, type NamedShapes, type Shape } from './shape.ts'

/** What is recorded of a revision: the shapes of messages that passed its official schema. */
export interface Recording {
  readonly methods: Readonly<Record<string, string>>
  readonly shapes: NamedShapes
  /** Parts of shapes, referred to as `@name`. */
  readonly parts: NamedShapes
}

/** The file that holds the recording of a revision. */
export function recordingFile(revision: Revision): string {
  return fileURLToPath(new URL(`recorded/${revision}.json`, import.meta.url))
}

/** Checks against the recorded shapes of a revision. */
export function readRecording(revision: Revision): Checker {
  const file = recordingFile(revision)
  if (!existsSync(file))
    throw new Error(`${file} is missing: record it with \`npx tsx test/corpus/record.ts\``)
  return toChecker(JSON.parse(readFileSync(file, 'utf8')) as Recording)
}

/** Checks against recorded shapes. */
export function toChecker({ methods, shapes, parts }: Recording): Checker {
  const named = new Map<string, Shape>(Object.entries(shapes))
  return {
    methods: new Map(Object.entries(methods)),
    has: (name) => named.has(name),
    check: (name, value, mode) => {
      const shape = named.get(name)
      if (shape === undefined) return { kind: 'unseen', text: `no ${name} is recorded` }
      const misfit = misfitOf(value, shape, parts)
      return misfit !== undefined && mode === 'closed' ? { ...misfit, kind: 'wrong' } : misfit
    },
  }
}
