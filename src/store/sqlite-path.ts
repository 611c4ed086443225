import { badOption } from '../base/options.ts'
import { builtin } from './builtin.ts'

const EXAMPLE = `such as 'app.db'`

/** The absolute path of a file that the user named. Throws an error that says what to pass instead if it is not a path. */
export function toPath(where: string, given: unknown): string {
  const wrong = whyNot(given)
  if (wrong !== undefined) throw badOption(where, wrong)
  return builtin('node:path')?.resolve(given as string) ?? (given as string)
}

/** Why a value is not the path of a file, and what to pass instead; undefined if it may be one. */
function whyNot(given: unknown): string | undefined {
  if (given instanceof URL)
    return `the first argument is a URI, not a path; pass fileURLToPath(url) of node:url`
  if (typeof given !== 'string' || given.trim() === '')
    return `the first argument must be the path of a file, ${EXAMPLE}`
  if (given === ':memory:')
    return `':memory:' is not a file; use memory() of pierhead/stores, or pass the path of a file, ${EXAMPLE}`
  if (given.includes('\0')) return `the path has a NUL character; pass the path of a file, ${EXAMPLE}`
  // One letter is a drive of Windows.
  const scheme = /^[a-z][a-z0-9+.-]+:/i.exec(given)?.[0]
  if (scheme !== undefined)
    // The rest of a URI may hold credentials.
    return /^file:/i.test(given) && !/^file:\/\//i.test(given)
      ? `the path is a URI; pass a path, ${EXAMPLE}, or './${given}' for a file of that name`
      : `the path is a URI (${scheme}…); pass a path, ${EXAMPLE}, or fileURLToPath(url) of node:url for a file: URL`
  if (/[/\\]$/.test(given))
    return `the path ends like a folder; pass that of a file, such as '${given}app.db'`
  return undefined
}
