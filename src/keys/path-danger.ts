import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import process from 'node:process'
import { ancestorDanger, linkDanger, type Danger } from './danger.ts'

/** Something on the way to a file that is not safe from other users. */
export interface UnsafePlace {
  readonly path: string
  readonly danger: Exclude<Danger, undefined>
}

const ROOT = '/'
/** How many links the system follows. */
const MAX_LINKS = 40

/**
 * Follows a path as the system does. Finds the first folder or link with which others can choose where it leads to: whoever can change a
 * folder can exchange what it contains, and so can the owner of a link. On Windows, Node does not know the permissions of others.
 */
export function findUnsafe(path: string): UnsafePlace | undefined {
  if (process.platform === 'win32') return undefined
  const parts = partsOf(resolve(path))
  let folder = ROOT
  let links = 0
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part === '..') {
      folder = dirname(folder)
      continue
    }
    const danger = ancestorDanger(folder, lstatSync(folder))
    if (danger !== undefined) return { path: folder, danger }
    const next = join(folder, part)
    const facts = lstatSync(next, { throwIfNoEntry: false })
    if (facts === undefined) return undefined
    if (!facts.isSymbolicLink()) {
      folder = next
      continue
    }
    const unsafe = ++links > MAX_LINKS ? 'too many links lead here' : linkDanger(facts)
    if (unsafe !== undefined) return { path: next, danger: unsafe }
    const target = readlinkSync(next)
    if (isAbsolute(target)) folder = ROOT
    parts.unshift(...partsOf(target))
  }
  return undefined
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}
