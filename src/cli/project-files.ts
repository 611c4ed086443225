import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import type { Io } from './io.ts'
import { foreignPart, isWithin, ownerOf, type ForeignPart } from './trust.ts'
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
  return existing(foldersOf(io, isOwnRoot)).filter((file) => foreignIn(file, io) === undefined)
}

/** A file that is not read, and why. */
export interface ForeignFile {
  readonly file: string
  readonly part: ForeignPart
}

/** The others: another user would choose the programs that this one runs. */
export function foreignFiles(io: Surroundings): readonly ForeignFile[] {
  return existing(foldersOf(io, isRoot)).flatMap((file) => {
    const part = foreignIn(file, io)
    return part === undefined ? [] : [{ file, part }]
  })
}

function existing(folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    NAMES.map((name) => join(folder, name)).filter((file) => existsSync(file)),
  )
}

/** Whether a project may begin at the folder of a file such as .git. */
type RootTest = (marker: string, env: Io['env']) => boolean

const isRoot: RootTest = (marker) => existsSync(marker)

/** Somebody else could make a folder above a part of a project of theirs. */
const isOwnRoot: RootTest = (marker, env) =>
  existsSync(marker) && foreignPart(marker, dirname(marker), { env }) === undefined

/**
 * The folders of the project that a folder is in. Its root is the nearest one with .git, or else the nearest one with package.json.
 * Where there is neither, it ends at the home folder; outside of that, folders above may belong to anybody.
 */
function foldersOf({ cwd, env }: Surroundings, isRootBy: RootTest): readonly string[] {
  const all = withParents(resolve(cwd))
  const { home } = userFolders(env)
  // A repository or a manifest in the home folder does not make everything in it one project.
  const below = all.slice(0, home !== undefined && all.includes(home) ? all.indexOf(home) : undefined)
  const root = [
    below.findIndex((folder) => isRootBy(join(folder, '.git'), env)),
    below.findIndex((folder) => isRootBy(join(folder, 'package.json'), env)),
  ].find((at) => at >= 0)
  if (root !== undefined) return all.slice(0, root + 1)
  return all.slice(0, home !== undefined && all.includes(home) ? all.indexOf(home) + 1 : 1)
}

/** The nearest file with a name in the folders of a project, which may belong to another user; undefined if there is none. */
export function nearestFile(name: string, io: Surroundings): string | undefined {
  return foldersOf(io, isRoot)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file))
}

/** What belongs to another user on the way from the root of the project to a file; undefined if the file may be trusted. */
export function foreignIn(file: string, io: Surroundings, also?: number): ForeignPart | undefined {
  const root = foldersOf(io, isOwnRoot).findLast((folder) => isWithin(folder, file)) ?? dirname(file)
  return foreignPart(file, root, { env: io.env, also })
}

/**
 * The same for a package as a source file finds it. `path` is the real file of one of its modules; `also` another owner who is
 * trusted.
 */
export function foreignPackage(
  name: string,
  path: string,
  {
    source,
    env,
    also,
  }: { readonly source: string; readonly env: Io['env']; readonly also?: number | undefined },
): ForeignPart | undefined {
  const io = { cwd: dirname(source), env }
  // The way that Node found it by may have links, which the real file does not show.
  const written = (createRequire(source).resolve.paths(name) ?? [])
    .map((folder) => join(folder, name))
    .find((folder) => existsSync(folder))
  return [written ?? path, path].map((one) => foreignIn(one, io, also)).find((part) => part !== undefined)
}

/** The folder of the project that a source file belongs to: that of the nearest package.json that may be trusted, or its own. */
export function projectFolder(file: string, env: Io['env']): string {
  const io = { cwd: dirname(file), env }
  const manifest = nearestFile('package.json', io)
  return manifest === undefined || foreignIn(manifest, io, ownerOf(file)) !== undefined
    ? io.cwd
    : dirname(manifest)
}

/**
 * The folder, of the current one and those of its project, that a path is in as it is written; undefined if it is elsewhere. A home
 * folder counts only if it is the current one.
 */
export function userProject(path: string, io: Surroundings): string | undefined {
  const { home } = userFolders(io.env)
  return foldersOf(io, isOwnRoot)
    .filter((folder, at) => at === 0 || folder !== home)
    .find((folder) => contains(folder, path))
}

/** Whether a path is in a folder. Both must be real, or both as they were written. */
export function contains(folder: string, path: string): boolean {
  return path !== folder && isWithin(folder, path)
}

function withParents(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...withParents(parent)]
}
