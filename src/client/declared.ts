import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { checkOptions } from '../base/options.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Root } from '../protocol/spec/2026-07-28.ts'
import type { Answers } from './answers.ts'

/** An extension as a client declares it. */
export interface DeclaredExtension {
  readonly id: string
  readonly settings?: JsonObject
}

/** The capability that declares extensions, by their id. */
export function declarationOf(extensions?: readonly DeclaredExtension[]): JsonObject | undefined {
  if (extensions === undefined) return undefined
  if (!Array.isArray(extensions) || !extensions.every((one) => typeof one?.id === 'string'))
    throw mcpError(BAD_OPTION, { where: 'extensions', reason: 'list them: [health]' })
  return { extensions: Object.fromEntries(extensions.map(({ id, settings = {} }) => [id, settings])) }
}

/** The capabilities that a set of answers amounts to, in the newest form. */
export function capabilitiesOf(answers: Answers): JsonObject {
  const forms = answers.elicit === undefined ? {} : { form: {} }
  const urls = answers.elicitUrl === undefined ? {} : { url: {} }
  const elicitation = { ...forms, ...urls }
  return {
    ...(Object.keys(elicitation).length === 0 ? {} : { elicitation }),
    ...(answers.sample === undefined ? {} : { sampling: answers.sampleTools === true ? { tools: {} } : {} }),
    ...(answers.roots === undefined ? {} : { roots: {} }),
  }
}

/** Refuses roots that no server may be told of. */
export function checkRoots(roots: readonly Root[]): readonly Root[] {
  const foreign = roots.find(({ uri }) => !uri.startsWith('file://'))
  if (foreign === undefined) return roots
  throw mcpError(BAD_OPTION, { where: 'roots', reason: `"${foreign.uri}" is not a file:// URI` })
}

const ANSWERS = ['elicit', 'elicitUrl', 'rejects', 'sample', 'sampleTools', 'roots']

/** Refuses answers that could never be given. */
export function checkAnswers(answers: Answers): Answers {
  checkOptions('answers', answers, ANSWERS)
  for (const name of ['elicit', 'elicitUrl', 'sample'] as const) {
    if (answers[name] !== undefined && typeof answers[name] !== 'function')
      throw mcpError(BAD_OPTION, { where: 'answers', reason: `${name} must be a function` })
  }
  if (Array.isArray(answers.roots)) checkRoots(answers.roots as readonly Root[])
  return answers
}
