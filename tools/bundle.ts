import { relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'

export interface BundleOptions {
  /** The program: one module that imports the package by its name. */
  readonly program: string
  readonly platform: 'browser' | 'node'
  /** `source` reads src, `built` reads dist. */
  readonly from: 'source' | 'built'
  /** The dynamic imports that the program makes at once, by how their path begins below src or dist. */
  readonly atOnce?: readonly string[]
}

export interface Bundle {
  /** All that is loaded at the start, as one module, the way bundlers place what several parts share. */
  readonly code: string
  /** Its size as it travels, in bytes. */
  readonly gzip: number
  /** What it is made of: file and bytes, largest first. */
  readonly inputs: ReadonlyMap<string, number>
  /** Every import that is left in it besides `later`. */
  readonly imports: readonly string[]
  /** The globals of Node that it uses. */
  readonly nodeGlobals: readonly string[]
  /** What is loaded when it is needed: file, and the size of what it adds to the start. */
  readonly later: ReadonlyMap<string, number>
}

/** What the HTTP client and a stdio server may weigh at their start. */
export const BUDGETS = { client: 20_000, server: 46_000 } as const

export const CLIENT_PROGRAM = `
import { connect } from 'pierhead/client'
globalThis.client = await connect('https://mcp.example.com/mcp')
`

const FREE = 'node_global_'
const NODE_GLOBALS = ['process', 'Buffer', 'global', 'setImmediate', '__dirname', '__filename']

/** Bundles a program as its users would, and tells what it loads and when. */
export async function bundle(options: BundleOptions): Promise<Bundle> {
  const waiting = new Set<string>()
  const { code, ...start } = await pack(options, waiting, new Set())
  const later = new Map<string, number>()
  // A set visits what is added to it on the way.
  for (const path of waiting) {
    const known = new Set(start.inputs.keys())
    const part = await pack({ ...options, program: `export * from ${JSON.stringify(path)}` }, waiting, known)
    later.set(relative('.', path), sizeOf(part.code))
  }
  return { ...start, code, gzip: sizeOf(code), later }
}

function sizeOf(code: string): number {
  return gzipSync(code).length
}

/** One module of all that a program imports statically. Dynamic imports are added to `waiting`; what is known is left out. */
async function pack(
  { program, platform, from, atOnce = [] }: BundleOptions,
  waiting: Set<string>,
  known: ReadonlySet<string>,
): Promise<Omit<Bundle, 'gzip' | 'later'>> {
  const parts: Plugin = {
    name: 'parts',
    setup(on) {
      on.onResolve({ filter: /^[.#]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (pluginData === parts) return undefined
        const found = await on.resolve(path, { kind, importer, resolveDir, pluginData: parts })
        const file = relative('.', found.path)
        if (known.has(file)) return { path: file, external: true, sideEffects: false }
        if (kind !== 'dynamic-import' || atOnce.some((start) => file.replace(/^\w+\//, '').startsWith(start)))
          return found
        waiting.add(found.path)
        return { path: file, external: true }
      })
    },
  }
  const { metafile, outputFiles } = await build({
    stdin: { contents: program, resolveDir: process.cwd(), sourcefile: 'program.js' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform,
    target: 'es2022',
    // Renames free names only, so that what is left over can be told from words in texts.
    define: platform === 'browser' ? Object.fromEntries(NODE_GLOBALS.map((name) => [name, FREE + name])) : {},
    conditions: from === 'source' ? ['pierhead-source'] : [],
    write: false,
    outfile: 'program.js',
    metafile: true,
    logLevel: 'error',
    plugins: [parts],
  })
  const [output] = Object.values(metafile.outputs)
  const sizes = Object.entries(output?.inputs ?? {}).map(
    ([file, { bytesInOutput }]) => [file, bytesInOutput] as const,
  )
  const imports = (output?.imports ?? [])
    .filter(({ kind }) => kind !== 'dynamic-import')
    .map(({ path }) => path)
  const code = outputFiles[0]?.text ?? ''
  return {
    code,
    inputs: new Map(sizes.toSorted(([, one], [, other]) => other - one)),
    imports,
    nodeGlobals: NODE_GLOBALS.filter((name) => code.includes(FREE + name)),
  }
}
