import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import type { ClientApp, ServerEntry } from './client-apps.ts'
import type { Flags } from './command.ts'
import { isMembers, plainEntry, targetOf } from './config-entry.ts'
import { serversIn } from './config-files.ts'
import { withPlaces } from './config-variables.ts'
import { wrongUsage } from './failure.ts'
import type { Io } from './io.ts'
import { headersOf } from './option-values.ts'
import { ownProgram } from './own-program.ts'
import { foreignPackage, nearestFile } from './project-files.ts'
import { readText } from './read-text.ts'
import type { ResolvedTarget } from './target.ts'
import { ownerOf } from './trust.ts'
import { parseUrl } from '../protocol/url.ts'

/** The entry of a target, for a file that an app reads from anywhere. */
export function entryOf(resolved: ResolvedTarget, app: ClientApp, flags: Flags, io: Io): ServerEntry {
  // Where the app knows variables, they stay variables, and no secret is copied.
  const isCopied = resolved.from === 'configuration' && app.reference !== undefined
  const target = isCopied ? respelled(resolved, app, io) : resolved.target
  if ('url' in target)
    return { url: String(target.url), headers: { ...target.headers, ...headersOf(flags.list('header')) } }
  const env = { ...target.env, ...envOf(flags.list('env'), app, io) }
  if (resolved.from === 'file' || resolved.from === 'project') {
    const [command, ...args] = programFor(resolved.file ?? '', io.env)
    // The last argument is the whole path, with the export that holds the server.
    return { command, args: [...args, 'run', '--stdio', ...(target.args ?? []).slice(-1)], env }
  }
  const cwd = target.cwd ?? io.cwd
  return {
    command: /[\\/]/.test(target.command) ? resolve(cwd, target.command) : target.command,
    args: (target.args ?? []).map((arg) => absolute(arg, cwd)),
    env,
    ...(choosesFolder(resolved) && { cwd }),
  }
}

/** Whether an entry of a configuration says where its program starts. */
function choosesFolder({ from, file, label }: ResolvedTarget): boolean {
  if (from !== 'configuration' || file === undefined) return false
  const entry = serversIn(file)[label]
  return isMembers(entry) && plainEntry(entry)['cwd'] !== undefined
}

/** An argument that is the path of a file, from anywhere. */
function absolute(arg: string, cwd: string): string {
  if (isAbsolute(arg) || arg.startsWith('-') || !/[./\\]/.test(arg)) return arg
  const path = resolve(cwd, arg)
  return existsSync(path) ? path : arg
}

/** The program that runs a file: the command of its own project, or this one. */
function programFor(file: string, env: Io['env']): readonly [string, ...string[]] {
  try {
    const manifest = createRequire(file).resolve('pierhead/package.json')
    const main = join(dirname(manifest), 'dist', 'cli', 'main.js')
    const isForeign =
      foreignPackage('pierhead', main, { source: file, env, also: ownerOf(file) }) !== undefined
    if (existsSync(main) && !isForeign) return [process.execPath, main]
  } catch {
    // The project does not have the package.
  }
  return ownProgram()
}

/** The entry of a configuration file with its variables as another app spells them. Places are the same for all apps. */
function respelled({ file = '', label }: ResolvedTarget, app: ClientApp, io: Io): ResolvedTarget['target'] {
  return targetOf(serversIn(file)[label], { file, name: label }, (text) =>
    withPlaces(text, file, io.env).replaceAll(
      /\$\{(?:env:)?([A-Za-z_]\w*)\}/g,
      (whole, name: string) => app.reference?.(name) ?? whole,
    ),
  )
}

/** The variables for a program: `NAME=value`, or `NAME`, which the app looks up itself if it can. */
function envOf(variables: readonly string[], app: ClientApp, io: Io): Readonly<Record<string, string>> {
  return Object.fromEntries(
    variables.map((variable) => {
      const at = variable.indexOf('=')
      if (at > 0) return [variable.slice(0, at), variable.slice(at + 1)]
      const value = app.reference?.(variable) ?? io.env[variable]
      if (value === undefined || !/^[A-Za-z_]\w*$/.test(variable))
        throw wrongUsage(`--env ${variable}: it is not set`, `Write --env ${variable}=value.`)
      return [variable, value]
    }),
  )
}

/** A name for the server in the configuration, if the user gives none. */
export function defaultName(resolved: ResolvedTarget, entry: ServerEntry, env: Io['env']): string {
  return safeName(rawName(resolved, entry, env)) || 'server'
}

function rawName({ from, file, label }: ResolvedTarget, entry: ServerEntry, env: Io['env']): string {
  if (from === 'configuration') return label
  if ('url' in entry) return hostOf(entry.url)
  const { command, args } = entry
  const path = file ?? [...args, command].find((word) => isAbsolute(word) && existsSync(word))
  const own = path === undefined || path === process.execPath ? undefined : packageName(path, env)
  if (own !== undefined) return own
  // Other arguments may be secrets, so only that of a program that runs another is a name.
  const started = RUNNERS.test(basename(command)) ? args.find((arg) => !arg.startsWith('-')) : undefined
  return basename(path ?? started ?? command).replace(/\.\w+$|@[\w.-]+$/, '')
}

/** Programs whose first argument names the server. */
const RUNNERS = /^(?:node|npx|bunx?|deno|uvx?|pipx|python[\d.]*|tsx|pnpx)(?:\.(?:exe|cmd))?$/i

function hostOf(text: string): string {
  const { hostname, port } = parseUrl(text)
  const isAddress = /^[\d.]+$|^\[/.test(hostname) || hostname === 'localhost'
  if (isAddress) return `local-${port || 'server'}`
  return hostname.replace(/^(?:www|mcp|api)\./, '').split('.')[0] ?? hostname
}

/** The name of the package that a file belongs to. */
function packageName(path: string, env: Io['env']): string | undefined {
  const manifest = nearestFile('package.json', { cwd: dirname(path), env })
  if (manifest === undefined) return undefined
  try {
    const { name } = JSON.parse(readText(manifest) ?? '') as { readonly name?: unknown }
    return typeof name === 'string' ? name : undefined
  } catch {
    return undefined
  }
}

function safeName(text: string): string {
  return text
    .replace(/^@[^/]*\//, '')
    .replaceAll(/[^\w-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64)
}
