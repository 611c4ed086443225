import { existsSync, lstatSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Io } from './io.ts'
import { userFolders } from './user-folders.ts'

/** The files in a project that name servers, in the order in which they count. */
const NAMES = [
  'mcp.json',
  '.mcp.json',
  '.cursor/mcp.json',
  '.vscode/mcp.json',
  '.zed/settings.json',
  '.gemini/settings.json',
] as const

/** What decides where configurations are. */
export type Surroundings = Pick<Io, 'cwd' | 'env'>

/** The configuration files of a project that exist and that may be trusted: those of a folder and of those above it, up to the root of the project. */
export function projectFiles(io: Surroundings): readonly string[] {
  return existing(io).filter((file) => !isForeign(file, io.cwd))
}

/** The others: they belong to another user, who would choose the programs that this one runs. */
export function foreignFiles(io: Surroundings): readonly string[] {
  return existing(io).filter((file) => isForeign(file, io.cwd))
}

function existing({ cwd, env }: Surroundings): readonly string[] {
  return foldersOf(resolve(cwd), env).flatMap((folder) =>
    NAMES.map((name) => join(folder, name)).filter((file) => existsSync(file)),
  )
}

/**
 * The folders of the project that a folder is in. Its root is the nearest one with .git, or else the nearest one with package.json.
 * Where there is neither, it ends at the home folder; outside of that, folders above may belong to anybody.
 */
function foldersOf(cwd: string, env: Io['env']): readonly string[] {
  const all = withParents(cwd)
  const { home } = userFolders(env)
  // A repository or a manifest in the home folder does not make everything in it one project.
  const below = all.slice(0, home !== undefined && all.includes(home) ? all.indexOf(home) : undefined)
  const root = [
    below.findIndex((folder) => existsSync(join(folder, '.git'))),
    below.findIndex((folder) => existsSync(join(folder, 'package.json'))),
  ].find((at) => at >= 0)
  if (root !== undefined) return all.slice(0, root + 1)
  return all.slice(0, home !== undefined && all.includes(home) ? all.indexOf(home) + 1 : 1)
}

/** The nearest file with a name in the folders of a project, which may belong to another user; undefined if there is none. */
export function nearestFile(name: string, { cwd, env }: Surroundings): string | undefined {
  return foldersOf(resolve(cwd), env)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file))
}

/** The folder of the project that a source file belongs to: that of the nearest package.json that may be trusted, or its own. */
export function projectFolder(file: string, env: Io['env']): string {
  const folder = dirname(file)
  const manifest = nearestFile('package.json', { cwd: folder, env })
  return manifest === undefined || isForeign(manifest, folder) ? folder : dirname(manifest)
}

/**
 * The folder, of the current one and those of its project, that a path is in as it is written; undefined if it is elsewhere. A home
 * folder counts only if it is the current one.
 */
export function userProject(path: string, { cwd, env }: Surroundings): string | undefined {
  const { home } = userFolders(env)
  return foldersOf(resolve(cwd), env)
    .filter((folder, at) => at === 0 || folder !== home)
    .find((folder) => contains(folder, path))
}

/** Whether a path is in a folder. Both must be real, or both as they were written. */
export function contains(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && !isAbsolute(way) && way.split(sep)[0] !== '..'
}

function withParents(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...withParents(parent)]
}

/** Whether a file belongs to another user, or is a link of one. Files of the owner of the folder `cwd` are trusted. */
export function isForeign(file: string, cwd: string): boolean {
  // Windows has no such numbers.
  const user = process.getuid?.()
  if (user === undefined) return false
  const owners = [lstatSync(file).uid, statSync(file).uid]
  return owners.some((owner) => !isTrusted(owner, user, statSync(cwd).uid))
}

/** Whether an owner of files is the user, the administrator, or the owner of the folder that the user works in. */
export function isTrusted(owner: number, user: number, folder: number): boolean {
  return [user, folder, 0].includes(owner)
}
