import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { wrongUsage, type Failure } from './failure.ts'

/** Makes a folder and those above it. Ends in every file system: the recursive function of Node loops where a folder cannot be made, such as in /proc. */
export function makeFolder(folder: string): void {
  const missing: string[] = []
  for (let one = folder; kindOf(one) === undefined && dirname(one) !== one; one = dirname(one))
    missing.unshift(one)
  for (const one of missing) {
    try {
      mkdirSync(one)
    } catch (error) {
      // Somebody else may make the same one at this time.
      if (kindOf(one) !== 'folder') throw error
    }
  }
}

/** Rejects the path of a file that certainly cannot be written, before work is done for it. `hint` says what to do. */
export function checkNewFile(file: string, hint: string): void {
  const kind = kindOf(file)
  if (kind === 'folder') throw notWritable(file, 'it is a folder', hint)
  if (kind === 'other') throw notWritable(file, 'it is not a file', hint)
  let near = kind === 'file' ? file : dirname(file)
  while (kindOf(near) === undefined && dirname(near) !== near) near = dirname(near)
  if (near !== file && kindOf(near) !== 'folder') throw notWritable(file, `${near} is not a folder`, hint)
  try {
    accessSync(near, constants.W_OK)
  } catch {
    throw notWritable(file, near === file ? 'you may not change it' : `you may not write to ${near}`, hint)
  }
}

/** The failure of a file that cannot be written. */
export function notWritable(file: string, reason: string, hint: string): Failure {
  return wrongUsage(`${file} cannot be written: ${reason}`, hint)
}

/** What is at a path; undefined if there is nothing. */
function kindOf(path: string): 'file' | 'folder' | 'other' | undefined {
  try {
    const found = statSync(path)
    return found.isDirectory() ? 'folder' : found.isFile() ? 'file' : 'other'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : 'other'
  }
}
