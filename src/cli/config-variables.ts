import { basename, dirname, sep } from 'node:path'
import { wrongConfig } from './failure.ts'
import type { Io } from './io.ts'
import { userFolders } from './user-folders.ts'

/** Folders in a project in which editors keep their configuration. */
const EDITOR_FOLDERS: readonly string[] = ['.cursor', '.vscode', '.zed', '.gemini']

/** The folder of the project that a configuration file belongs to. */
export function projectFolder(file: string): string {
  const folder = dirname(file)
  return EDITOR_FOLDERS.includes(basename(folder)) ? dirname(folder) : folder
}

const VARIABLE = /\$\{([^{}]*)\}/g
const NAMED = /^(?:env:)?([A-Za-z_]\w*)(?::-([^]*))?$/
/** What only an editor knows. */
const EDITOR_ONLY = /^(?:input|command|config|extensionInstallFolder):/

/** The variables of editors that name a place; the others are those of the environment. */
const PLACES: Readonly<Record<string, (file: string, env: Io['env']) => string | undefined>> = {
  workspaceFolder: (file) => projectFolder(file),
  workspaceFolderBasename: (file) => basename(projectFolder(file)),
  userHome: (_, env) => userFolders(env).home,
  pathSeparator: () => sep,
  '/': () => sep,
}

/** Replaces variables that name places, which are the same whoever reads the file. */
export function withPlaces(text: string, file: string, env: Io['env']): string {
  return text.replaceAll(VARIABLE, (whole, body: string) => placeOf(body, file, env) ?? whole)
}

function placeOf(body: string, file: string, env: Io['env']): string | undefined {
  return Object.hasOwn(PLACES, body) ? PLACES[body]?.(file, env) : undefined
}

/** Replaces `${NAME}`, `${env:NAME}`, `${NAME:-default}` and the places of editors, as these do. */
export function withVariables(text: string, file: string, env: Io['env']): string {
  return text.replaceAll(VARIABLE, (whole, body: string) => {
    const place = placeOf(body, file, env)
    if (place !== undefined) return place
    if (body === 'userHome')
      throw wrongConfig(`${file} uses ${whole}, and there is no home folder`, 'Set HOME to your home folder.')
    if (EDITOR_ONLY.test(body))
      throw wrongConfig(
        `${file} uses ${whole}, which only an editor can fill in`,
        'Write ${env:NAME} there instead, and set the variable NAME.',
      )
    const [, name, otherwise] = NAMED.exec(body) ?? []
    // Anything else may be meant for the program.
    if (name === undefined) return whole
    const value = env[name] ?? otherwise
    if (value !== undefined) return value
    throw wrongConfig(`${file} uses ${whole}, but ${name} is not set`, `Set it: ${name}=… pierhead …`)
  })
}

/** The variables of the environment that a text needs and the environment lacks. */
export function missingVariables(text: string, env: Io['env']): readonly string[] {
  const names = Array.from(text.matchAll(VARIABLE), ([, body = '']) => {
    const [, name, otherwise] = NAMED.exec(body) ?? []
    const isNeeded = !Object.hasOwn(PLACES, body) && otherwise === undefined
    return name !== undefined && isNeeded && env[name] === undefined ? [name] : []
  })
  return [...new Set(names.flat())]
}
