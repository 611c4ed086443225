import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { notExported, unnamed, type NoServer } from './exported-server.ts'
import { Failure } from './failure.ts'
import { notWritable } from './make-folder.ts'
import { readText } from './read-text.ts'
import { packageFolder } from './scaffold.ts'
import type { SourceFile } from './source-file.ts'
import { esbuildOf } from './typescript.ts'
import { replaceFile } from './write-file.ts'

/** The part of esbuild that is used. */
interface Esbuild {
  build(options: object): Promise<Built>
}

interface Built {
  readonly metafile: {
    readonly inputs: Readonly<Record<string, unknown>>
    readonly outputs: Readonly<
      Record<
        string,
        { readonly exports: readonly string[]; readonly imports: readonly { readonly path: string }[] }
      >
    >
  }
  readonly outputFiles: readonly { readonly path: string; readonly contents: Uint8Array }[]
}

/** Packages that a bundle cannot contain, because they load a program for the machine or a whole engine. */
const NATIVE = ['libsql', '@napi-rs/keyring', 'esbuild', 'typescript', 'fsevents'] as const
/** Packages that this one loads only if they are used. */
const OPTIONAL = ['bullmq', 'ioredis', 'pg', 'pg-native', 'bufferutil', 'utf-8-validate'] as const

/** Runs before the program: packages in the older module format load modules of Node with require. */
const BANNER = `import { createRequire as __createRequire } from 'node:module'
const require = __createRequire(import.meta.url)`

/** The largest source file. */
const MOST_BYTES = 100_000_000

export interface Bundle {
  readonly bytes: number
  /** The packages of the project that must be installed beside the file. */
  readonly external: readonly string[]
  /** Those of them that only an older Node needs. */
  readonly forOldNode: readonly string[]
  /** Whether it is certainly no server: it serves nothing at a port. */
  readonly isClient: boolean
  /** Whether the program calls `listen` itself, so that PORT means only what the program makes of it. */
  readonly listens: boolean
}

export interface BundleOptions {
  readonly out: string
  readonly hasMap: boolean
  /** The place of a file that is written. Throws if a link leads it elsewhere. */
  placeOf(path: string): string
}

/** Writes one file with the program and everything that it needs. Writes nothing if the program certainly has no server. */
export async function bundleProgram(
  source: SourceFile,
  { out, hasMap, placeOf }: BundleOptions,
): Promise<Bundle> {
  const module = (await import(esbuildOf(source.path, 'build'))) as Esbuild & { readonly default?: Esbuild }
  const esbuild = module.default ?? module
  const folder = dirname(source.path)
  const isThere = (name: string): boolean => isInstalled(name, source.path)
  const common = {
    absWorkingDir: folder,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    write: false,
    metafile: true,
    logLevel: 'silent',
  }
  let [own, whole]: (Built | undefined)[] = []
  let usesClient = false
  try {
    own = await esbuild.build({ ...common, entryPoints: [source.path], packages: 'external', outfile: out })
    const imports = importsOf(own)
    usesClient = imports.has('pierhead/client') && !imports.has('pierhead')
    whole = await esbuild.build({
      ...common,
      stdin: {
        contents: startText(source, usesClient),
        resolveDir: folder,
        sourcefile: 'start.js',
        loader: 'js',
      },
      outfile: out,
      external: [...NATIVE, ...OPTIONAL.filter((name) => !isThere(name))],
      banner: { js: BANNER },
      legalComments: 'linked',
      sourcemap: hasMap && 'linked',
    })
  } catch (cause) {
    throw new Failure(`the program cannot be built: ${(cause as Error).message}`, { cause })
  }
  const missing = missingServer(source, own, whole)
  if (missing !== undefined) throw new Failure(missing.problem, { hint: missing.hint })
  write(whole, out, placeOf)
  const bytes = whole.outputFiles.reduce((sum, { contents }) => sum + contents.byteLength, 0)
  const external = NATIVE.filter((name) => !isTool(name) && isThere(name))
  const imports = importsOf(own)
  return {
    bytes,
    external,
    // Newer ones have SQLite, which this package then uses; the program itself may want this one.
    forOldNode: external.filter((name) => name === 'libsql' && !imports.has(name)),
    isClient: usesClient && Object.values(own.metafile.outputs).every(({ exports }) => exports.length === 0),
    listens: textsOf(own, folder).some((text) => /\.listen\s*\(/.test(text)),
  }
}

/** The rights of new files, from which the system takes those that the user does not give. */
const NEW_MODE = 0o666

/** The packages that a program imports itself. */
function importsOf({ metafile }: Built): ReadonlySet<string> {
  return new Set(Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path)))
}

/** The sources of a program, without those of packages. */
function textsOf({ metafile }: Built, folder: string): readonly string[] {
  return Object.keys(metafile.inputs).map((input) => readText(resolve(folder, input), MOST_BYTES) ?? '')
}

/** What to do about a file that cannot be written. */
export const OUT_HINT = 'Name another file: pierhead build --out dist/server.js'

function write({ outputFiles }: Built, out: string, placeOf: BundleOptions['placeOf']): void {
  const files = outputFiles.map(({ path, contents }) => ({ path: placeOf(path), contents }))
  try {
    for (const { path, contents } of files) replaceFile(path, contents, NEW_MODE)
  } catch (error) {
    throw notWritable(out, (error as Error).message, OUT_HINT)
  }
}

function isTool(name: string): boolean {
  return name === 'esbuild' || name === 'typescript'
}

function isInstalled(name: string, file: string): boolean {
  try {
    createRequire(file).resolve(name)
    return true
  } catch {
    return false
  }
}

/** What certainly keeps a built program from serving. Only running it would find the rest, and it might do more than that. */
function missingServer({ path, name }: SourceFile, own: Built, whole: Built): NoServer | undefined {
  const exports = Object.values(own.metafile.outputs).flatMap((output) => output.exports)
  const folder = dirname(path)
  const texts = textsOf(own, folder)
  const reexports = texts.some((text) => /\bexport\s*\*/.test(text))
  if (name !== undefined && !exports.includes(name) && !reexports) return notExported(path, name, exports)
  const hasPackage = Object.keys(whole.metafile.inputs).some((input) => isOfPackage(resolve(folder, input)))
  const isSilent = exports.length === 0 && !reexports && !texts.some((text) => SERVES.test(text))
  return hasPackage && !isSilent ? undefined : unnamed(path)
}

/** The members with which a server begins to serve. */
const SERVES = /\b(?:listen|start|work|node|fetch|fetchWith|connect)\b/

/** Whether a file is a part of this package that makes servers, in any of its copies. */
function isOfPackage(file: string): boolean {
  const home = realpathSync(packageFolder())
  if (file.startsWith(join(home, 'dist', 'cli') + sep)) return false
  return file.startsWith(home + sep) || /[\\/]node_modules[\\/]pierhead[\\/]/.test(file)
}

/** Loads what shows errors of the program, then the program, and starts its server. */
function startText({ path, name }: SourceFile, usesClient: boolean): string {
  const file = basename(path)
  const starter = join(packageFolder(), 'dist/cli/start-built.js')
  return `import { startBuilt } from ${JSON.stringify(starter)}
import * as program from ${JSON.stringify(`./${file}`)}
await startBuilt(program, ${JSON.stringify(file)}, ${JSON.stringify(name)}, ${usesClient})
`
}
