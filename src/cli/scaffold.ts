import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { wrongUsage } from './failure.ts'

/** The templates, and what each is for. */
export const TEMPLATES = {
  minimal: 'a server with one tool',
  http: 'a server over HTTP whose callers log in',
  tasks: 'long-running work that survives a restart',
  client: 'a program that calls servers',
} as const

export type TemplateName = keyof typeof TEMPLATES

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

/** Rejects a folder that has anything in it, and a name that npm would not accept. */
export function checkFolder(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '')
  if (name === '')
    throw wrongUsage(
      `"${basename(folder)}" is not a name for a project`,
      'Use letters, digits and dashes: my-server.',
    )
  if (existsSync(folder) && (!statSync(folder).isDirectory() || readdirSync(folder).length > 0))
    throw wrongUsage(`${folder} already exists and is not empty`, 'Choose another name, or empty the folder.')
  return name
}

/** Copies a template into a folder. */
export function copyTemplate(template: TemplateName, folder: string, name: string): void {
  mkdirSync(folder, { recursive: true })
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

/** What a project writes to depend on this copy of the package: a version, or where a tarball or checkout is. */
export function ownSpecifier(): string {
  const folder = packageFolder()
  const { version } = ownManifest()
  const modules = dirname(folder)
  if (basename(modules) !== 'node_modules') return `file:${folder}`
  const lock = join(modules, '.package-lock.json')
  if (!existsSync(lock)) return `^${version}`
  const { packages = {} } = JSON.parse(readFileSync(lock, 'utf8')) as {
    readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>
  }
  const resolved = packages['node_modules/pierhead']?.resolved
  return resolved?.startsWith('file:') === true
    ? `file:${resolve(dirname(modules), resolved.slice('file:'.length))}`
    : `^${version}`
}
