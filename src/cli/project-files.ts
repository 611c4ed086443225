import { existsSync, lstatSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
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

function withParents(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...withParents(parent)]
}

function isForeign(file: string, cwd: string): boolean {
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
