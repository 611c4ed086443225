import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { parseSync } from 'oxc-parser'

export interface JoinOptions {
  readonly folder: string
  /** Every module in the folder, by its path. */
  readonly paths: readonly string[]
  /** The entry point for servers. */
  readonly server: string
  /** The entry point for clients. */
  readonly client: string
  /** Other modules imported from outside. */
  readonly others: readonly string[]
  /** The possible modules of each import starting with #. */
  readonly aliases?: ReadonlyMap<string, readonly string[]>
}

interface Module {
  readonly path: string
  readonly size: number
  /** Whether it imports anything from outside the folder. */
  readonly reachesOut: boolean
  readonly exports: readonly string[]
  /** The modules that it imports statically, and the names it imports from each. */
  readonly needs: ReadonlyMap<string, readonly string[]>
  /** The modules that it loads on demand. */
  readonly loads: readonly string[]
}

/** Stands for every name that a module exports. */
const ALL = '*'

/** Modules of at most this many characters do not get a file of their own. */
const SMALL = 1500

/** The longest name of a file that several parts need. */
const MOST_CHARS = 120

type Modules = ReadonlyMap<string, Module>

/** The output file of each module. */
type Places = ReadonlyMap<string, string>

/**
 * Joins modules into a few files, because a cold start loads every one of them: one for code that both sides need at
 * startup, one per side, one per part loaded on demand, and one for the small modules that several such parts need.
 * Modules that are imported from outside or loaded on demand keep their own path.
 */
export async function joinModules(options: JoinOptions): Promise<void> {
  const { folder, paths, server, client, others, aliases = new Map() } = options
  const modules = expandNamespaces(new Map(paths.map((path) => [path, read(folder, path, aliases)])))
  const loaded = [...modules.values()].flatMap(({ loads }) => loads)
  const entries = new Set([server, client, ...others, ...loaded])
  const places = placeAll(modules, entries, options)
  const files = new Map<string, string>()
  for (const file of new Set(places.values()))
    files.set(file, await joinOne({ folder, file, modules, places, entries }))
  for (const path of entries) {
    const names = modules.get(path)?.exports ?? []
    if (!files.has(path)) files.set(path, reexport(path, names, specifierTo(path, places.get(path) ?? path)))
  }
  for (const path of paths) rmSync(join(folder, path))
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

function read(folder: string, path: string, aliases: ReadonlyMap<string, readonly string[]>): Module {
  const text = readFileSync(join(folder, path), 'utf8')
  const { module } = parseSync(path, text)
  const needs = new Map<string, string[]>()
  const need = (specifier: string, name: string | null | undefined): void => {
    if (!specifier.startsWith('.')) return
    if (typeof name !== 'string')
      throw new Error(`${path}: name the imports from ${specifier} instead of re-exporting everything`)
    const target = targetOf(path, specifier)
    needs.set(target, [...(needs.get(target) ?? []), name])
  }
  for (const { moduleRequest, entries } of module.staticImports)
    for (const { importName } of entries)
      need(moduleRequest.value, importName.kind === 'NamespaceObject' ? ALL : importName.name)
  const exported = module.staticExports.flatMap(({ entries }) => entries)
  for (const { moduleRequest, importName } of exported)
    if (moduleRequest) need(moduleRequest.value, importName.name)
  const loads = module.dynamicImports.map(({ moduleRequest: { start, end } }) =>
    text.slice(start + 1, end - 1),
  )
  const aliased = [...loads, ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value)]
  return {
    path,
    size: text.length,
    reachesOut: module.staticImports.some(({ moduleRequest }) => !moduleRequest.value.startsWith('.')),
    exports: exported.flatMap(({ exportName }) => exportName.name ?? []),
    needs,
    loads: [
      ...loads.filter((specifier) => specifier.startsWith('.')).map((specifier) => targetOf(path, specifier)),
      ...aliased.flatMap((specifier) => aliases.get(specifier) ?? []),
    ],
  }
}

/** The same modules, with namespace imports replaced by all exported names. */
function expandNamespaces(modules: Modules): Modules {
  const named = (target: string, names: readonly string[]): readonly string[] =>
    names.includes(ALL) ? (modules.get(target)?.exports ?? []) : names
  const all = [...modules].map(([path, module]) => {
    const needs = new Map([...module.needs].map(([target, names]) => [target, named(target, names)]))
    return [path, { ...module, needs }] as const
  })
  return new Map(all)
}

function targetOf(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier)
}

/** Assigns each required module to a file, without cycles between files. */
function placeAll(modules: Modules, entries: ReadonlySet<string>, { server, client }: JoinOptions): Places {
  const needed = (entry: string): ReadonlySet<string> =>
    reach(entry, (path) => [...(modules.get(path)?.needs.keys() ?? [])])
  const ever = (entry: string): ReadonlySet<string> =>
    reach(entry, (path) => [...(modules.get(path)?.needs.keys() ?? []), ...(modules.get(path)?.loads ?? [])])
  const [atServer, everAtServer, atClient, everAtClient] = [
    needed(server),
    ever(server),
    needed(client),
    ever(client),
  ]
  const both = new Set([...atClient].filter((path) => everAtServer.has(path)))
  const users = new Map<string, string[]>()
  for (const entry of entries)
    for (const path of needed(entry)) users.set(path, [...(users.get(path) ?? []), entry])
  return new Map([...users].map(([path, by]) => [path, fileOf(path, by)]))

  function fileOf(path: string, by: readonly string[]): string {
    if (atClient.has(path)) return both.has(path) ? 'parts/both.js' : 'parts/client.js'
    if (atServer.has(path)) return everAtClient.has(path) ? 'parts/server-first.js' : 'parts/server.js'
    const [only] = by
    if (by.length === 1 && only !== undefined) return only
    const [start, file] = everAtClient.has(path) ? [both, 'parts/later.js'] : [atServer, 'parts/server.js']
    return isSmall(path, start) ? file : `parts/${partName(by.map(flat).toSorted())}.js`
  }

  /** Whether a shared module is too small for its own file and needs only startup code. */
  function isSmall(path: string, start: ReadonlySet<string>): boolean {
    if (start.has(path)) return true
    const { size, reachesOut, needs, loads } = modules.get(path) as Module
    // What it loads may need another runtime, and bundlers resolve that even if nothing calls it.
    if (size > SMALL || reachesOut || loads.length > 0 || atClient.has(path) || atServer.has(path))
      return false
    return [...needs.keys()].every((next) => isSmall(next, start))
  }
}

function reach(from: string, next: (path: string) => readonly string[]): ReadonlySet<string> {
  // Iterating a set also visits elements added meanwhile.
  const reached = new Set([from])
  for (const path of reached) for (const further of next(path)) reached.add(further)
  return reached
}

interface Joining {
  readonly folder: string
  readonly file: string
  readonly modules: Modules
  readonly places: Places
  readonly entries: ReadonlySet<string>
}

/** The text of one file: its modules, exporting the names that other files import. */
async function joinOne({ folder, file, modules, places, entries }: Joining): Promise<string> {
  const own = [...modules.values()].filter(({ path }) => places.get(path) === file)
  const exports = own.flatMap(({ path, exports: names }) => {
    const isFile = path === file
    const taken = new Set(isFile || !entries.has(path) ? takenFrom(path, modules, places) : names)
    const list = [...(isFile ? names : []), ...[...taken].map((name) => `${name} as ${alias(path, name)}`)]
    return list.length === 0 ? [] : `export { ${list.join(', ')} } from './${path}'`
  })
  const needed = (path: string): readonly string[] => own.flatMap(({ needs }) => needs.get(path) ?? [])
  const elsewhere: Plugin = {
    name: 'elsewhere',
    setup(on) {
      on.onResolve({ filter: /^/ }, ({ path, importer, kind, namespace }) => {
        if (namespace === 'elsewhere' || !path.startsWith('.'))
          return { path, external: true, sideEffects: false }
        const from = importer === '<stdin>' ? 'stdin' : relative(folder, importer).replaceAll('\\', '/')
        const target = targetOf(from, path)
        if (kind === 'dynamic-import') return { path: specifierTo(file, target), external: true }
        if (places.get(target) === file) return { path: resolve(folder, target) }
        return { path: target, namespace: 'elsewhere' }
      })
      on.onLoad({ filter: /^/, namespace: 'elsewhere' }, ({ path }) => ({
        contents: reexport(path, needed(path), specifierTo(file, places.get(path) ?? path)),
      }))
    },
  }
  const { outputFiles } = await build({
    stdin: { contents: exports.join('\n'), sourcefile: '<stdin>', resolveDir: resolve(folder) },
    absWorkingDir: resolve(folder),
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'es2023',
    logLevel: 'error',
    plugins: [elsewhere],
  })
  return outputFiles[0]?.text ?? ''
}

/** The names that modules in other files import from a module. */
function takenFrom(path: string, modules: Modules, places: Places): readonly string[] {
  const others = [...modules.values()].filter((other) => places.get(other.path) !== places.get(path))
  return others.flatMap(({ needs }) => needs.get(path) ?? [])
}

/** A module that only re-exports what was moved to another file. */
function reexport(path: string, names: readonly string[], from: string): string {
  const list = [...new Set(names)].map((name) => `${alias(path, name)} as ${name}`)
  return `export { ${list.join(', ')} } from '${from}'\n`
}

function alias(path: string, name: string): string {
  return `${flat(path)}_${name}`
}

function flat(path: string): string {
  return path.replace(/\.js$/, '').replaceAll(/\W/g, '_')
}

/** The relative import specifier from one file to another. */
function specifierTo(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}

/** A name for what several parts need: theirs, unless that is longer than file systems allow. */
function partName(users: readonly string[]): string {
  const name = users.join('-')
  if (name.length <= MOST_CHARS) return name
  return `${users[0] ?? ''}-and-${users.length - 1}-more-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`
}
