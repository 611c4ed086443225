import { createRequire, register } from 'node:module'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Failure } from './failure.ts'
import { foreignPackage } from './project-files.ts'
import { isTypeScript } from './source-file.ts'
import { ownedText, ownerOf, trustHint } from './trust.ts'

/** The data of the hooks. */
export interface HookData {
  /** The URL of the project's esbuild; undefined where Node runs all TypeScript itself. */
  readonly esbuild: string | undefined
  /** Whether Node strips types, so that esbuild is only for files with `using`. */
  readonly isForUsing: boolean
  /** A module of this package, for programs in folders where it is not installed. */
  readonly self: string
}

/**
 * Makes this process import the sources of a project: TypeScript through the project's esbuild where Node cannot run it, and this copy
 * of the package if the project has none.
 */
export function importSources(file: string): void {
  // A loader such as tsx does the same.
  if (process.execArgv.some((arg) => /(?:^|[=/])tsx(?:$|\/)/.test(arg))) return
  const self = import.meta.resolve('pierhead/package.json')
  const isForUsing = stripsTypes()
  const data: HookData = {
    esbuild: isForUsing ? esbuildForUsing(file) : neededEsbuild(file),
    isForUsing,
    self,
  }
  // Otherwise stack traces show lines of what esbuild wrote.
  if (data.esbuild !== undefined) process.setSourceMapsEnabled(true)
  register(self.replace(/package\.json$/, 'dist/cli/source-hooks.js'), { data })
}

/** Whether Node runs TypeScript, as Node 22.18 and later do. */
function stripsTypes(): boolean {
  return Boolean((process.features as { readonly typescript?: unknown }).typescript)
}

function neededEsbuild(file: string): string | undefined {
  return isTypeScript(file) ? esbuildOf(file, 'Node') : undefined
}

/** Node 24 is the first with `using`. An older one that strips types leaves it as it is, and then cannot run the file. */
function esbuildForUsing(file: string): string | undefined {
  if (Number.parseInt(process.versions.node, 10) >= 24) return undefined
  try {
    return esbuildOf(file, 'Node')
  } catch {
    // Most programs do without.
    return undefined
  }
}

/** The esbuild of the project that a file belongs to. `user` is what needs it: `build`, or Node for TypeScript. */
export function esbuildOf(file: string, user: 'build' | 'Node'): string {
  const needs = user === 'build' ? 'build needs esbuild' : `${process.version} needs esbuild for TypeScript`
  const path = packagePath('esbuild', file)
  if (path === undefined)
    throw new Failure(`${needs}, and the project does not have it`, {
      hint: 'npm install --save-dev esbuild',
    })
  const foreign = foreignPackage('esbuild', path, { source: file, env: process.env, also: namedOwner(file) })
  if (foreign !== undefined)
    throw new Failure(`${needs}, and ${path} was not used, because ${ownedText(path, foreign)}`, {
      hint: `If you trust it, set ${trustHint(foreign)}`,
    })
  return pathToFileURL(path).href
}

/** The main file of a package that a file can import; undefined if it has none. */
function packagePath(name: string, file: string): string | undefined {
  try {
    return createRequire(file).resolve(name)
  } catch {
    return undefined
  }
}

/** The owner of a program that the user runs, and so of the packages that it imports. */
function namedOwner(file: string): number | undefined {
  return ownerOf(file) ?? ownerOf(dirname(file))
}
