import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { wrongUsage } from './failure.ts'
import { foreignFiles, foreignIn, nearestFile, type ForeignFile, type Surroundings } from './project-files.ts'
import { readText } from './read-text.ts'
import { shellWord } from './shell-word.ts'
import { ownedText, trustHint } from './trust.ts'

/** The server that a project has of its own: its file, perhaps with the name of an export, and the folder of the project. */
export interface ProjectServer {
  readonly file: string
  readonly cwd: string
}

/** The server that the package.json of the project names: `"pierhead": { "server": "server.ts" }`. Files of other users name none, and are none. */
export function projectServer(io: Surroundings): ProjectServer | undefined {
  return find(io).server
}

/** Why the server of the project is not used; undefined if it is, or if there is none. */
export function serverObstacle(io: Surroundings): string | undefined {
  return find(io).obstacle
}

/** What was not read in the project, and why, for somebody who misses a server. */
export function obstacles(io: Surroundings): readonly string[] {
  const { obstacle } = find(io)
  return [...(obstacle === undefined ? [] : [obstacle]), ...foreignFiles(io).map(notRead)]
}

/** Why a configuration was not read. */
function notRead({ file, part }: ForeignFile): string {
  return `${file} was not read, because ${ownedText(file, part)}. If you trust it, name it: --config ${shellWord(file)}, or set ${trustHint(part)}`
}

interface Found {
  readonly server?: ProjectServer
  readonly obstacle?: string
}

function find(io: Surroundings): Found {
  const manifest = nearestFile('package.json', io)
  if (manifest === undefined) return {}
  const foreign = foreignIn(manifest, io)
  if (foreign !== undefined)
    return {
      obstacle: `${manifest} was not read, because ${ownedText(manifest, foreign)}. If you trust its server, name the file of that, such as ${shellWord(resolve(dirname(manifest), 'server.ts'))}, or set ${trustHint(foreign)}`,
    }
  const cwd = dirname(manifest)
  let server: string | undefined
  try {
    server = serverOf(readText(manifest) ?? '')
  } catch (error) {
    return { obstacle: unreadable(manifest, error) }
  }
  if (server === undefined) return {}
  const file = resolve(cwd, server)
  const source = sourcePath(file)
  const foreignSource = existsSync(source) ? foreignIn(source, io) : undefined
  if (foreignSource !== undefined)
    return {
      obstacle: `${source} was not run, because ${ownedText(source, foreignSource)}. If you trust it, name it: ${shellWord(file)}, or set ${trustHint(foreignSource)}`,
    }
  return { server: { file, cwd } }
}

function unreadable(file: string, error: unknown): string {
  return `${file} cannot be read: ${(error as Error).message}`
}

/** Throws if the package.json of a source file cannot be read. Node would wait for a pipe, and read a device without end. */
export function checkManifest(source: string, env: Surroundings['env']): void {
  const manifest = nearestFile('package.json', { cwd: dirname(source), env })
  if (manifest === undefined) return
  try {
    readText(manifest)
  } catch (error) {
    throw wrongUsage(unreadable(manifest, error), 'Replace it by a file.')
  }
}

/** The path of a source file without the name of its export. */
export function sourcePath(word: string): string {
  return word.replace(/(?<=\.[cm]?[jt]sx?):[\w$]+$/, '')
}

/** The server that the text of a package.json names. */
function serverOf(text: string): string | undefined {
  try {
    const { pierhead } = JSON.parse(text) as { pierhead?: { server?: unknown } }
    return typeof pierhead?.server === 'string' ? pierhead.server : undefined
  } catch {
    return undefined
  }
}
