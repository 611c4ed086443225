import { readFileSync, type Stats } from 'node:fs'
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

/**
 * Whether others can exchange what is in a folder further up. In one with the sticky bit, as /tmp has it, only owners can. A group that has the number
 * of the folder's owner has no other members: many systems create one for each user, who lets it change all new folders.
 */
export function ancestorDanger(folder: string, facts: Stats): Danger {
  const { mode, uid, gid } = facts
  if (process.platform === 'win32') return undefined
  const owner = isUnmapped(uid) ? undefined : ownerDanger(facts)
  if (owner !== undefined) return `${owner}, who can exchange what it contains; use a folder of your own`
  if ((mode & STICKY) !== 0) return undefined
  if ((mode & 0o002) !== 0) return `everyone can change the folder; run: chmod o-w ${folder}`
  if ((mode & 0o020) === 0 || gid === uid) return undefined
  return `its group can change the folder; run: chmod g-w ${folder}`
}

/** Whether another user can let a link lead elsewhere, even in a folder with the sticky bit. */
export function linkDanger(facts: Stats): Danger {
  const owner = isUnmapped(facts.uid) ? undefined : ownerDanger(facts)
  return owner && `${owner}, who can let the link lead elsewhere; name the file itself`
}

/** The owner of all files whose owner has no number in this user namespace. */
const NOBODY = 65_534

/** Whether the owner of a file is unknown here: in a container without privileges, that is the case for the administrator outside. */
function isUnmapped(uid: number): boolean {
  if (uid !== NOBODY || process.platform !== 'linux') return false
  try {
    return !mapsAllUsers(readFileSync('/proc/self/uid_map', 'latin1'))
  } catch {
    return false
  }
}

/** Whether the map of a user namespace is that of the system itself, where all users have their own number. */
export function mapsAllUsers(map: string): boolean {
  return /^\s*0\s+0\s+4294967295\s*$/.test(map)
}

/** The administrator can do anything in any case. */
function ownerDanger({ uid }: Stats): Danger {
  const own = process.geteuid?.()
  return own === undefined || uid === own || uid === 0 ? undefined : 'it belongs to another user'
}

function modeDanger({ mode }: Stats, forbidden: number, what: string): Danger {
  return process.platform === 'win32' || (mode & forbidden) === 0 ? undefined : `other users can ${what}`
}
