import { callable, either, FLAG, listOf, object, type Kind, type KindsOf } from '../base/kinds.ts'
import { badOption, checkOptions } from '../base/options.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { TASKS_EXTENSION } from '../protocol/meta.ts'
import type { Root } from '../protocol/spec/2026-07-28.ts'
import type { Answers } from './answers.ts'

/** The folders that a client works in, or a function that returns them. */
export const ROOTS: Kind<NonNullable<Answers['roots']>> = either(
  listOf(object<Root>('{ uri, name }')),
  callable<Extract<Answers['roots'], (...asked: never[]) => unknown>>(),
)

/** An extension that a client declares. */
export interface DeclaredExtension {
  /** The id in the capabilities, such as `dev.pierhead/health`. */
  readonly id: string
  /** The client's settings, in a form that the extension defines. Default: `{}`. */
  readonly settings?: JsonObject | undefined
}

export const EXTENSIONS: Kind<readonly DeclaredExtension[]> = {
  must: 'a list of extensions, such as [health]',
  is: (value) =>
    Array.isArray(value) &&
    value.every((one) => typeof (one as Partial<DeclaredExtension> | null)?.id === 'string'),
}

/** The capability that declares extensions, by their id: tasks, and those that the caller names. */
export function declarationOf(extensions: readonly DeclaredExtension[] = []): JsonObject {
  const named = Object.fromEntries(extensions.map(({ id, settings = {} }) => [id, settings]))
  return { extensions: { [TASKS_EXTENSION]: {}, ...named } }
}

/** The capabilities that follow from the answers, in the form of the newest revision. Those that do not are undefined. */
export function capabilitiesOf(answers: Answers): JsonObject {
  const { elicit, elicitUrl, sample, sampleTools, roots } = answers
  return {
    elicitation: (elicit ?? elicitUrl) && { form: elicit && {}, url: elicitUrl && {} },
    sampling: sample && (sampleTools === true ? { tools: {} } : {}),
    roots: roots && {},
  }
}

/** Rejects roots that the protocol does not allow. */
export function checkRoots(roots: readonly Root[]): readonly Root[] {
  const invalid = roots.find(({ uri }) => !uri.startsWith('file://'))
  if (invalid === undefined) return roots
  throw badOption('roots', `"${invalid.uri}" is not a file:// URI`)
}

const ANSWERS: KindsOf<Answers> = {
  elicit: callable<NonNullable<Answers['elicit']>>(),
  elicitUrl: callable<NonNullable<Answers['elicitUrl']>>(),
  rejects: FLAG,
  sample: callable<NonNullable<Answers['sample']>>(),
  sampleTools: FLAG,
  roots: ROOTS,
}

/** Rejects invalid answers when they are set rather than when a question arrives. */
export function checkAnswers(answers: Answers): Answers {
  checkOptions('answers', answers, ANSWERS)
  if (Array.isArray(answers.roots)) checkRoots(answers.roots as readonly Root[])
  return answers
}
