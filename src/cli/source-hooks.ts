import type { LoadHook, ResolveHook } from 'node:module'
import { fileURLToPath } from 'node:url'
import { readText } from './read-text.ts'
import { sourceError } from './source-error.ts'
import type { HookData } from './typescript.ts'

/** The part of esbuild that is used. */
interface Esbuild {
  transform(source: string, options: object): Promise<{ readonly code: string }>
}

/** The largest source file. */
const MOST_BYTES = 100_000_000

let given: HookData = { esbuild: undefined, isForUsing: false, self: '' }
let loading: Promise<Esbuild> | undefined

export function initialize(data: HookData): void {
  given = data
}

function loadEsbuild(url: string): Promise<Esbuild> {
  return (loading ??= (import(url) as Promise<Esbuild & { readonly default?: Esbuild }>).then(
    (module) => module.default ?? module,
  ))
}

/** Finds `./tools/index.ts` for `./tools` and `./x.ts` for `./x.js`, as the compiler does, and this package where none is installed. */
export const resolve: ResolveHook = async (specifier, context, next) => {
  try {
    return await next(specifier, context)
  } catch (error) {
    for (const other of othersOf(specifier)) {
      try {
        return await next(other, specifier.startsWith('.') ? context : { ...context, parentURL: given.self })
      } catch {
        // The first error says more.
      }
    }
    throw error
  }
}

function othersOf(specifier: string): readonly string[] {
  if (/^pierhead(?:\/|$)/.test(specifier)) return [specifier]
  if (!/^\.{0,2}\//.test(specifier) || given.esbuild === undefined || given.isForUsing) return []
  if (/\.[cm]?jsx?$/.test(specifier)) return [specifier.replace(/js(x?)$/, 'ts$1')]
  return [`${specifier}.ts`, `${specifier}/index.ts`]
}

/** Turns TypeScript into JavaScript. */
export const load: LoadHook = async (url, context, next) => {
  const [, kind] = /\.[cm]?(tsx?)(?:\?.*)?$/.exec(url) ?? []
  if (given.esbuild === undefined || kind === undefined || !url.startsWith('file:')) return next(url, context)
  const path = fileURLToPath(url)
  const text = readText(path, MOST_BYTES) ?? ''
  if (given.isForUsing && !/\busing\s+[\w$]/.test(text)) return next(url, context)
  const esbuild = await loadEsbuild(given.esbuild)
  const { code } = await esbuild
    .transform(text, {
      loader: kind,
      format: 'esm',
      target: 'node20',
      sourcemap: 'inline',
      sourcefile: path,
      logLevel: 'silent',
    })
    .catch((error: unknown) => {
      throw sourceError(error, path)
    })
  return { format: 'module', source: code, shortCircuit: true }
}
