import { gzipSync } from 'node:zlib'
import { build, type BuildOptions, type Metafile } from 'esbuild'

export interface BundleOptions {
  /** The program: one module that imports packages by their names. */
  readonly text: string
  readonly platform: 'browser' | 'node'
  /** Whether our own package is read from src or, as users do, from dist. */
  readonly from?: 'source' | 'built'
}

/** A program bundled by esbuild with splitting into initial chunks and chunks loaded on demand. */
export interface SplitBundle {
  /** The code of the initial chunks: the first one and those that it imports statically. */
  readonly code: string
  /** The compressed size of the initial chunks. */
  readonly initial: number
  /** The compressed size of all chunks. */
  readonly total: number
  /** The files in the initial chunks. */
  readonly inputs: readonly string[]
  /** The external imports of all chunks. */
  readonly imports: readonly string[]
  /** The Node globals used in any chunk. */
  readonly nodeGlobals: readonly string[]
  /** The files that are loaded on demand. */
  readonly later: readonly string[]
}

export interface SingleBundle {
  /** The compressed size of the file. */
  readonly gzip: number
  /** Its source files with their bytes before compression, largest first. */
  readonly inputs: ReadonlyMap<string, number>
}

const FREE = 'node_global_'
const NODE_GLOBALS = ['process', 'Buffer', 'global', 'setImmediate', '__dirname', '__filename']

/** The size of code after compression. */
export function gzipSize(code: string | Uint8Array): number {
  return gzipSync(code).length
}

/** Bundles a program into one file. */
export async function bundleSingle(options: BundleOptions): Promise<SingleBundle> {
  const { metafile, outputFiles } = await build({ ...settingsOf(options), outfile: 'program.js' })
  const [output] = Object.values(metafile.outputs)
  const sizes = Object.entries(output?.inputs ?? {}).map(
    ([file, { bytesInOutput }]) => [file, bytesInOutput] as const,
  )
  return {
    gzip: sum(outputFiles.map(({ contents }) => gzipSize(contents))),
    inputs: new Map(sizes.toSorted(([, one], [, other]) => other - one)),
  }
}

/** Bundles a program into chunks, so that dynamic imports are loaded on demand. */
export async function bundleSplit(options: BundleOptions): Promise<SplitBundle> {
  const settings = settingsOf(options)
  // Renames only free names, which distinguishes a Node global from the same word in a string.
  const marks = Object.fromEntries(NODE_GLOBALS.map((name) => [name, FREE + name]))
  const define = options.platform === 'browser' ? { ...marks, ...settings.define } : settings.define
  const { metafile, outputFiles } = await build({
    ...settings,
    define,
    splitting: true,
    outdir: 'out',
    entryNames: '[name]',
  })
  const texts = new Map(
    outputFiles.map(({ path, text }) => [path.slice(path.lastIndexOf('/out/') + 1), text]),
  )
  const first = firstOf(metafile)
  const sizeOf = (paths: Iterable<string>): number =>
    sum([...paths].map((path) => gzipSize(texts.get(path) ?? '')))
  const outputs = Object.values(metafile.outputs)
  return {
    code: [...first].map((path) => texts.get(path)).join('\n'),
    initial: sizeOf(first),
    total: sizeOf(texts.keys()),
    inputs: [...new Set([...first].flatMap((path) => inputsOf(metafile, path)))],
    imports: outputs.flatMap(({ imports }) =>
      imports.filter(({ external }) => external === true).map(({ path }) => path),
    ),
    nodeGlobals: NODE_GLOBALS.filter((name) =>
      [...texts.values()].some((text) => text.includes(FREE + name)),
    ),
    later: Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) =>
      entryPoint === undefined || first.has(path) ? [] : entryPoint,
    ),
  }
}

const SETTINGS = {
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  write: false,
  metafile: true,
  logLevel: 'error',
  define: { 'process.env.NODE_ENV': '"production"' },
} as const satisfies BuildOptions

function settingsOf({ text, platform, from = 'built' }: BundleOptions) {
  return {
    ...SETTINGS,
    stdin: { contents: text, resolveDir: process.cwd(), sourcefile: 'program.js' },
    platform,
    conditions: from === 'source' ? ['pierhead-source'] : [],
  }
}

/** The chunks that are loaded before the program runs: its own, and those that it imports statically. */
function firstOf({ outputs }: Metafile): ReadonlySet<string> {
  const own = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === 'program.js')
  // Iterating a set also visits elements added meanwhile.
  const first = new Set(own)
  for (const path of first)
    for (const { path: next, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && next in outputs) first.add(next)
  return first
}

function inputsOf({ outputs }: Metafile, path: string): readonly string[] {
  return Object.entries(outputs[path]?.inputs ?? {}).flatMap(([file, { bytesInOutput }]) =>
    bytesInOutput > 0 ? file : [],
  )
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
