import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { wrongUsage } from './failure.ts'
import { makeFolder } from './make-folder.ts'

/** A template: a folder in `templates`, whose files are added to those in `templates/common`. */
export interface Template {
  readonly about: string
  /** The file with the server; undefined if there is none. */
  readonly server?: string
  /** The program that `npm start` runs and `npm run build` builds. */
  readonly program: string
  /** What `npm start` runs. Default: `pierhead run` with the server, which serves stdio if it is not on a terminal. */
  readonly start?: string
  /** The packages that it needs besides this one. */
  readonly needs: readonly string[]
  /** The commands to try; `{url}` is where `npm run dev` serves. */
  readonly tries: readonly string[]
}

export type TemplateName = 'minimal' | 'http' | 'tasks' | 'client'

export const TEMPLATES: Readonly<Record<TemplateName, Template>> = {
  minimal: {
    about: 'a server with one tool',
    server: 'server.ts',
    program: 'server.ts',
    needs: ['zod'],
    tries: ['npm run dev', 'npx pierhead call {url} add a=1 b=2'],
  },
  http: {
    about: 'a server over HTTP whose callers log in',
    server: 'server.ts',
    program: 'server.ts',
    start: 'pierhead run --http server.ts',
    needs: ['zod'],
    tries: ['npm run dev', 'npx pierhead call whoami'],
  },
  tasks: {
    about: 'long-running work that survives a restart',
    server: 'server.ts',
    program: 'server.ts',
    needs: ['zod', 'libsql'],
    tries: ['npm run dev', 'npx pierhead call {url} report pages=3'],
  },
  client: {
    about: 'a program that calls servers',
    program: 'client.ts',
    needs: [],
    tries: ['npm test', 'npm start -- {url}'],
  },
}

/** The folder of this package. */
export function packageFolder(): string {
  return dirname(fileURLToPath(import.meta.resolve('pierhead/package.json')))
}

interface Manifest {
  readonly version: string
  readonly devDependencies?: Readonly<Record<string, string>>
}

export function ownManifest(): Manifest {
  return JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')) as Manifest
}

/** Names that npm keeps for itself, and the length of the longest that it accepts. */
const KEPT_NAMES: readonly string[] = ['node_modules', 'favicon.ico']
const LONGEST_NAME = 214

/** Rejects a folder that has anything in it, and a name that npm would not accept. */
export function checkFolder(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|[._-]+$/g, '')
  if (name === '')
    throw wrongUsage(
      `"${basename(folder)}" is not a name for a project`,
      'Use letters, digits and dashes: my-server.',
    )
  if (KEPT_NAMES.includes(name) || name.length > LONGEST_NAME)
    throw wrongUsage(`npm does not accept "${name}" as the name of a project`, 'Choose another name.')
  if (!existsSync(folder)) return name
  if (!statSync(folder).isDirectory()) throw wrongUsage(`${folder} is a file`, 'Choose another name.')
  if (readdirSync(folder).length > 0)
    throw wrongUsage(`${folder} already exists and is not empty`, 'Choose another name, or empty the folder.')
  return name
}

/** Copies a template into a folder. */
export function copyTemplate(template: TemplateName, folder: string, name: string): void {
  makeFolder(folder)
  const home = join(packageFolder(), 'templates')
  for (const part of ['common', template]) cpSync(join(home, part), folder, { recursive: true })
  // npm does not publish files of this name.
  renameSync(join(folder, 'gitignore'), join(folder, '.gitignore'))
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, path)
    if (!statSync(file).isFile()) continue
    const text = readFileSync(file, 'utf8')
    if (text.includes('{{name}}')) writeFileSync(file, text.replaceAll('{{name}}', name))
  }
}

/** What a project in a folder writes to depend on this copy of the package: a version, or where a tarball or checkout is. */
export function ownSpecifier(home: string): string {
  const folder = packageFolder()
  const { version } = ownManifest()
  const modules = dirname(folder)
  if (basename(modules) !== 'node_modules') return fileSpecifier(folder, home)
  const lock = join(modules, '.package-lock.json')
  if (!existsSync(lock)) return `^${version}`
  const { packages = {} } = JSON.parse(readFileSync(lock, 'utf8')) as {
    readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>
  }
  const resolved = packages['node_modules/pierhead']?.resolved
  return resolved?.startsWith('file:') === true
    ? fileSpecifier(resolve(dirname(modules), resolved.slice('file:'.length)), home)
    : `^${version}`
}

/** A path relative to the project, so that both can move together; an absolute one if they are on different drives. */
function fileSpecifier(path: string, home: string): string {
  const real = existsSync(path) ? realpathSync(path) : path
  return `file:${relative(realpathSync(home), real).replaceAll('\\', '/')}`
}
