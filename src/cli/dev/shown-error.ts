import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { McpError } from 'pierhead/client'
import { addressProblem, AS_OPTIONS } from '../address-problem.ts'
import { Failure, failureOf } from '../failure.ts'
import type { FailedEvent } from './events.ts'

/** What a program threw: the message, and where in the project it happened. */
export type ShownError = Pick<FailedEvent, 'message' | 'where' | 'hint'>

/** How much of a message is shown. */
const LONGEST = 2_000

/** Describes an error of a program that does not start. */
export function shownError(thrown: unknown, root: string): ShownError {
  const { message, hint } = failureIn(thrown)
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : ''
  const where = placeIn(`${stack}\n${message}`, root)
  const name = thrown instanceof Error && !/Error:/.test(message) ? kindOf(thrown) : ''
  return { message: `${name}${message}`.trim().slice(0, LONGEST), where, hint }
}

/** What a program throws is not about the command line, unless it is about the address, which options can change. */
export function failureIn(thrown: unknown): Failure {
  const isOption = thrown instanceof McpError && thrown.kind === 'bad_option'
  return isOption && !isAboutAddress(thrown)
    ? new Failure(thrown.message, { hint: thrown.hint, cause: thrown })
    : failureOf(thrown)
}

/** Whether an error says where a server cannot serve. */
export function isAboutAddress(thrown: unknown): boolean {
  return thrown instanceof McpError && addressProblem(thrown.message, AS_OPTIONS) !== undefined
}

function kindOf({ name }: Error): string {
  return /^(?:Syntax|Type|Reference|Range)Error$/.test(name) ? `${name}: ` : ''
}

/** The first place of a stack that is in the project and not in a package. */
function placeIn(text: string, root: string): string | undefined {
  for (const [, raw = '', line, column] of text.matchAll(
    /(?:^|[\s(])((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])[^\n:()]+):(\d+)(?::(\d+))?/g,
  )) {
    const path = relative(root, pathOf(raw))
    if (path.startsWith('..') || /(?:^|[\\/])node_modules[\\/]/.test(path)) continue
    return [path, line, column].filter((part) => part !== undefined).join(':')
  }
  return undefined
}

function pathOf(raw: string): string {
  try {
    return raw.startsWith('file:') ? fileURLToPath(raw) : raw
  } catch {
    return raw
  }
}

/** Explains a program that does not start to serve. */
export function notInTime(startMs: number): ShownError {
  return {
    message: `the program did not start listening within ${startMs / 1000} s, so it was ended`,
    hint: 'Look for an endless loop, or an await that never ends, outside of functions. --start-time allows more time.',
  }
}

/** Explains a program that ended, and could not say why. */
export function endedEarly(how: string): ShownError {
  return {
    message: `the program ended ${how} before it could serve`,
    hint: 'Look at what it printed, and for process.exit() in the program.',
  }
}
