import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { Failure } from './failure.ts'
import { makeFolder } from './make-folder.ts'
import { contains, userProject, type Surroundings } from './project-files.ts'
import { foreignLink, trustHint } from './trust.ts'

const MOST_LINKS = 40

/** The file that a path leads to, if it is a link. A file that does not exist yet stays as it is. */
export function realFile(path: string): string {
  let file = path
  for (let links = 0; lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true; links++) {
    if (links > MOST_LINKS)
      throw new Failure(`${path} is a link that leads to itself`, { hint: 'Remove it.' })
    file = resolve(dirname(file), readlinkSync(file))
  }
  if (existsSync(file)) return realpathSync(file)
  if (file !== path)
    throw new Failure(`${path} is a link to ${file}, which does not exist`, {
      hint: 'Remove the link, or create the file if you trust the link.',
    })
  return file
}

/**
 * The same for a file of a project, whose author is not the user. Neither the file nor a folder on the way to it may lead out of the
 * project, since the author would choose what is read or written. `called` is what people call the folder of the project.
 */
export function realProjectFile(
  path: string,
  project: string,
  { env, called = 'the project' }: Pick<Surroundings, 'env'> & { readonly called?: string },
): string {
  const file = realFile(path)
  const real = join(realFolder(dirname(file)), basename(file))
  if (contains(realpathSync(project), real)) {
    checkLinks(path, project, env)
    return real
  }
  throw new Failure(`${path} leads out of ${called}, to ${real}`, {
    hint: 'Remove the link. If you want to change that file, change it there.',
  })
}

/** Throws if a link between a folder and a path belongs to another user, or leads to what does. */
export function checkLinks(path: string, root: string, env: Surroundings['env']): void {
  const foreign = foreignLink(path, root, { env })
  if (foreign === undefined) return
  throw new Failure(
    `${path} is not written, because a link leads to another place and ${foreign.path} belongs to another user (uid ${foreign.owner})`,
    { hint: `Remove the link. If you trust that user, set ${trustHint(foreign)}` },
  )
}

/**
 * The place of a file that is made for the user, such as a report. A link on the way to it must not lead out of the project, and one
 * in its place not out of its folder. Where the user names a place elsewhere, the way to its folder is the decision of the user.
 */
export function outputFile(path: string, io: Surroundings, project?: string): string {
  const folder = dirname(path)
  const root =
    userProject(path, io) ?? (project !== undefined && contains(project, path) ? project : undefined)
  const real = root === undefined ? path : realProjectFile(path, root, io)
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return real
  return realProjectFile(path, folder, { ...io, called: 'its folder' })
}

/** Where a folder really is, or will be if it does not exist yet. */
function realFolder(folder: string): string {
  if (existsSync(folder)) return realpathSync(folder)
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined)
    throw new Failure(`${folder} is a link that leads nowhere`, { hint: 'Remove it.' })
  const parent = dirname(folder)
  return parent === folder ? folder : join(realFolder(parent), basename(folder))
}

/**
 * Replaces the contents of a file at once: nobody sees half of it. The mode and the owner stay. A link is replaced, and not followed;
 * whoever wants to follow one passes the real file. What is no file, such as a device, stays as it is.
 */
export function replaceFile(file: string, contents: string | Uint8Array, newMode: number): void {
  makeFolder(dirname(file))
  const found = lstatSync(file, { throwIfNoEntry: false })
  const old = found?.isFile() === true ? found : undefined
  if (found !== undefined && old === undefined && !found.isSymbolicLink())
    throw new Error(found.isDirectory() ? 'it is a folder' : 'it is not a file')
  const fresh = `${file}.${randomUUID()}`
  try {
    writeFileSync(fresh, contents, { flag: 'wx', mode: old === undefined ? newMode : 0o600 })
    if (old !== undefined) keepRights(fresh, old)
    renameSync(fresh, file)
  } finally {
    rmSync(fresh, { force: true })
  }
}

function keepRights(
  fresh: string,
  { mode, uid, gid }: { readonly mode: number; readonly uid: number; readonly gid: number },
): void {
  const made = statSync(fresh)
  if (made.uid !== uid || made.gid !== gid)
    try {
      chownSync(fresh, uid, gid)
    } catch {
      // Only administrators may give files away.
    }
  chmodSync(fresh, mode & 0o7777)
}
