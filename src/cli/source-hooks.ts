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

let esbuild: Esbuild | undefined
let self = ''

export async function initialize(data: HookData): Promise<void> {
  self = data.self
  if (data.esbuild !== undefined) {
    const module = (await import(data.esbuild)) as Esbuild & { readonly default?: Esbuild }
    esbuild = module.default ?? module
  }
}

/** Finds `./tools/index.ts` for `./tools` and `./x.ts` for `./x.js`, as the compiler does, and this package where none is installed. */
export const resolve: ResolveHook = async (specifier, context, next) => {
  try {
    return await next(specifier, context)
  } catch (error) {
    for (const other of othersOf(specifier)) {
      try {
        return await next(other, specifier.startsWith('.') ? context : { ...context, parentURL: self })
      } catch {
        // The first error says more.
      }
    }
    throw error
  }
}

function othersOf(specifier: string): readonly string[] {
  if (/^pierhead(?:\/|$)/.test(specifier)) return [specifier]
  if (!/^\.{0,2}\//.test(specifier) || esbuild === undefined) return []
  if (/\.[cm]?jsx?$/.test(specifier)) return [specifier.replace(/js(x?)$/, 'ts$1')]
  return [`${specifier}.ts`, `${specifier}/index.ts`]
}

/** Turns TypeScript into JavaScript. */
export const load: LoadHook = async (url, context, next) => {
  const [, kind] = /\.[cm]?(tsx?)(?:\?.*)?$/.exec(url) ?? []
  if (esbuild === undefined || kind === undefined || !url.startsWith('file:')) return next(url, context)
  const path = fileURLToPath(url)
  const { code } = await esbuild
    .transform(readText(path, MOST_BYTES) ?? '', {
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
