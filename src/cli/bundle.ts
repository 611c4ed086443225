import { createRequire } from 'node:module'
import { basename, dirname } from 'node:path'
import { Failure } from './failure.ts'
import type { SourceFile } from './source-file.ts'
import { esbuildOf } from './typescript.ts'

/** The part of esbuild that is used. */
interface Esbuild {
  build(options: object): Promise<{
    readonly metafile: { readonly outputs: Readonly<Record<string, { readonly bytes: number }>> }
  }>
}

/** Packages that a bundle cannot contain, because they load a program for the machine or a whole engine. */
const NATIVE = ['libsql', '@napi-rs/keyring', 'esbuild', 'typescript', 'fsevents'] as const
/** Packages that this one loads only if they are used. */
const OPTIONAL = ['bullmq', 'ioredis', 'pg', 'pg-native', 'bufferutil', 'utf-8-validate'] as const

/**
 * Runs before the program: packages in the older module format load modules of Node with require, and the end of the file must know
 * whether the program listens itself.
 */
const BANNER = `import { createRequire as __createRequire } from 'node:module'
const require = __createRequire(import.meta.url)
globalThis[Symbol.for('pierhead.launcher')] ??= { listen(app, options) { this.listens = true; return options } }`

export interface Bundle {
  readonly file: string
  readonly bytes: number
  /** The packages of the project that must be installed beside the file. */
  readonly external: readonly string[]
}

/** Writes one file with the program and everything that it needs. */
export async function bundleProgram(source: SourceFile, out: string): Promise<Bundle> {
  const module = (await import(esbuildOf(source.path))) as Esbuild & { readonly default?: Esbuild }
  const folder = dirname(source.path)
  const require = createRequire(source.path)
  const isThere = (name: string): boolean => {
    try {
      require.resolve(name)
      return true
    } catch {
      return false
    }
  }
  const external = [...NATIVE, ...OPTIONAL.filter((name) => !isThere(name))]
  try {
    const { metafile } = await (module.default ?? module).build({
      stdin: { contents: startText(source), resolveDir: folder, sourcefile: 'start.js', loader: 'js' },
      absWorkingDir: folder,
      outfile: out,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      external,
      banner: { js: BANNER },
      legalComments: 'linked',
      metafile: true,
      logLevel: 'silent',
    })
    const bytes = Object.values(metafile.outputs).reduce((sum, one) => sum + one.bytes, 0)
    return {
      file: out,
      bytes,
      external: NATIVE.filter((name) => name !== 'esbuild' && name !== 'typescript' && isThere(name)),
    }
  } catch (cause) {
    throw new Failure(`the program cannot be built: ${(cause as Error).message}`, { cause })
  }
}

/** The program, and a server that it only exports listens: over HTTP if PORT is set, and over stdio otherwise. */
function startText({ path, name = 'default' }: SourceFile): string {
  return `import * as program from ${JSON.stringify(`./${basename(path)}`)}
const { PORT, HOST, HOSTS } = process.env
const app = program[${JSON.stringify(name)}]
if (typeof app?.listen === 'function' && !globalThis[Symbol.for('pierhead.launcher')].listens) {
  const http = { port: Number(PORT), ...(HOST && { host: HOST }), ...(HOSTS && { hosts: HOSTS.split(',') }) }
  await app.listen(PORT ? { http } : { stdio: true })
}
`
}
