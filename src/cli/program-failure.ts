import { relative, resolve } from 'node:path'
import { failureIn, isAboutAddress, shownError } from './dev/shown-error.ts'
import { Failure } from './failure.ts'

/** What a program threw before it served, with the place in the project. */
export function programFailure(thrown: unknown, root: string, cwd: string): Failure {
  if (thrown instanceof Failure || isAboutAddress(thrown)) return failureIn(thrown)
  const { message, where, hint } = shownError(thrown, root)
  const isNew = where !== undefined && !message.includes(where)
  const text = isNew ? `${message}\n  at ${nearPath(resolve(root, where), cwd)}` : message
  return new Failure(text, { hint, exit: failureIn(thrown).exit, cause: thrown })
}

function nearPath(path: string, cwd: string): string {
  const near = relative(cwd, path)
  return near.startsWith('..') ? path : near
}
