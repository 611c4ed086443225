import type { Stats } from 'node:fs'
import process from 'node:process'

/** The access that other users must not have to a file: reading or changing it, or only changing it. */
export const READ_OR_CHANGE = 0o077
export const CHANGE = 0o022

/** The mark of folders that all users share, such as /tmp. */
const STICKY = 0o1000

/** Why something is not safe from other users; undefined if it is. */
export type Danger = string | undefined

/** The access that others have to a file. On Windows, Node does not know their permissions. */
export function fileDanger(path: string, facts: Stats, forbidden: number): Danger {
  if (!facts.isFile()) return 'it is not a file'
  const can = forbidden === CHANGE ? 'change' : 'read'
  return ownerDanger(facts) ?? modeDanger(facts, forbidden, `${can} it; run: chmod 600 ${path}`)
}

/** Whether others can exchange the files in a folder. */
export function folderDanger(folder: string, facts: Stats): Danger {
  const isOwn = facts.uid === process.geteuid?.() && (facts.mode & STICKY) === 0
  const remedy = isOwn ? `run: chmod go-w ${folder}` : 'it is meant for everyone, so use a folder of your own'
  return ownerDanger(facts) ?? modeDanger(facts, CHANGE, `change the folder; ${remedy}`)
}

/** Whether everyone can exchange the folders in a folder. In one with the sticky bit, as /tmp has it, only owners can. */
export function ancestorDanger(folder: string, { mode }: Stats): Danger {
  const isOpen = process.platform !== 'win32' && (mode & (STICKY | 0o002)) === 0o002
  return isOpen ? `everyone can change the folder; run: chmod o-w ${folder}` : undefined
}

/** The administrator can do anything in any case. */
function ownerDanger({ uid }: Stats): Danger {
  const own = process.geteuid?.()
  return own === undefined || uid === own || uid === 0 ? undefined : 'it belongs to another user'
}

function modeDanger({ mode }: Stats, forbidden: number, what: string): Danger {
  return process.platform === 'win32' || (mode & forbidden) === 0 ? undefined : `other users can ${what}`
}
