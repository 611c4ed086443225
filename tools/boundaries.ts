import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join, posix } from 'node:path'
import { importsOf } from './imports.ts'

interface Row {
  /** Modules that this one may import; `*` is any, and a folder stands for all modules in it. */
  readonly may: readonly string[]
  /** Path prefixes of the files that may import Node built-ins; `*` is any. */
  readonly node?: readonly string[]
}

const FORBIDDEN = /^(utils?|helpers?|common|shared|core|misc|manager)\./
const LIMITS = { source: 400, test: 600 }

/** Every breach of boundaries.json and of the rules on size, names, switches and the drawn tree, one line each. */
export function findBreaches(root: string): readonly string[] {
  const table = new Map<string, Row>(
    Object.entries(JSON.parse(readFileSync(join(root, 'boundaries.json'), 'utf8'))),
  )
  const sources = read(root, 'src')
  const tests = [...read(root, 'test'), ...sources.filter(isTest)]
  const code = sources.filter((file) => !isTest(file))
  return [
    ...modules(code, table),
    ...code.flatMap((file) => imports(file, table)),
    ...switches(code),
    ...code.flatMap((file) => size(file, LIMITS.source)),
    ...tests.flatMap((file) => size(file, LIMITS.test)),
    ...[...sources, ...read(root, 'test'), ...read(root, 'tools')].flatMap(name),
    ...drawing(root, table),
  ]
}

interface Source {
  readonly path: string
  readonly text: string
}

function read(root: string, folder: string): readonly Source[] {
  const base = join(root, folder)
  if (!existsSync(base)) return []
  const paths = readdirSync(base, { recursive: true, encoding: 'utf8' }).map((path) =>
    path.replaceAll('\\', '/'),
  )
  const files = paths.filter((path) => /\.(ts|tsx)$/.test(path)).toSorted()
  const prefix = folder === 'src' ? '' : `${folder}/`
  return files.map((path) => ({ path: prefix + path, text: readFileSync(join(base, path), 'utf8') }))
}

function isTest(file: Source): boolean {
  return /\.test(-d)?\.ts$/.test(file.path)
}

/** The row for the files directly below src, which users import. */
const ENTRIES = 'entries'

/** The module of a file: the row with the longest folder that contains it. */
function moduleOf(path: string, table: ReadonlyMap<string, Row>): string | undefined {
  if (!path.includes('/')) return ENTRIES
  const rows = [...table.keys()].filter((row) => path.startsWith(`${row}/`))
  return rows.toSorted((a, b) => b.length - a.length)[0]
}

function modules(code: readonly Source[], table: ReadonlyMap<string, Row>): readonly string[] {
  const found = new Set(code.map(({ path }) => moduleOf(path, table)))
  const without = code.filter(({ path }) => moduleOf(path, table) === undefined)
  const folders = new Set(without.map(({ path }) => posix.dirname(path)))
  const isKnown = (name: string): boolean =>
    name === '*' || [...table.keys()].some((row) => row === name || row.startsWith(`${name}/`))
  return [
    ...[...folders].map((folder) => `${folder}: the folder has no row in boundaries.json`),
    ...[...table.keys()]
      .filter((row) => row !== ENTRIES && !found.has(row))
      .map((row) => `boundaries.json: there is no folder src/${row}`),
    ...[...table].flatMap(([row, { may }]) =>
      may
        .filter((other) => !isKnown(other))
        .map((other) => `boundaries.json: ${row} may import ${other}, which has no row`),
    ),
  ]
}

function imports(file: Source, table: ReadonlyMap<string, Row>): readonly string[] {
  const module = moduleOf(file.path, table)
  const row = module === undefined ? undefined : table.get(module)
  if (!row) return []
  return importsOf(file.path, file.text).flatMap((specifier) => {
    if (isBuiltin(specifier)) {
      const allowed = row.node?.some((prefix) => prefix === '*' || file.path.startsWith(prefix)) ?? false
      return allowed
        ? []
        : [`${file.path}: may not import ${specifier}; files that may are listed in boundaries.json`]
    }
    if (!specifier.startsWith('.')) return []
    const target = posix.join(posix.dirname(file.path), specifier)
    if (basename(target) === 'index.ts') return [`${file.path}: import the file itself, not ${target}`]
    const other = moduleOf(target, table)
    if (other === undefined || other === module) return []
    const allowed = row.may.some((name) => name === '*' || name === other || other.startsWith(`${name}/`))
    return allowed ? [] : [`${file.path}: ${module} may not import ${other}`]
  })
}

const SWITCH_TABLES: readonly string[] = ['protocol/switches.ts', 'protocol/choices.ts']

function switches(code: readonly Source[]): readonly string[] {
  const tables = code.filter(({ path }) => SWITCH_TABLES.includes(path)).map(({ text }) => text)
  const readers = new Map(
    [...tables.join('\n').matchAll(/^\s*(\w+):.*\breader: '([^']+)'/gm)].map((row) => [
      row[1] ?? '',
      row[2] ?? '',
    ]),
  )
  const reads = new Map(code.map((file) => [file.path, readsIn(file)]))
  const foreign = [...reads].flatMap(([path, names]) =>
    [...names]
      .filter((name) => readers.has(name) && readers.get(name) !== path)
      .map((name) => `${path}: the switch ${name} is read only in ${readers.get(name)}`),
  )
  const unread = [...readers]
    .filter(([name, path]) => reads.get(path)?.has(name) !== true)
    .map(([name, path]) => `${path}: the switch ${name} is not read here, as its table says`)
  return [...foreign, ...unread]
}

/** The members of dialects and choices that a file reads. */
function readsIn({ text }: Source): ReadonlySet<string> {
  const members = text.matchAll(/\b(?:dialects?|choices)(?:\[[^\]]*\])?[?!]?\.(\w+)\b/gi)
  const destructured = text.matchAll(/\{([^{}]*)\} = (?:[\w.]*\.)?(?:dialect|choices)\b/g)
  const names = [...destructured].flatMap(([, list = '']) => list.split(',').map((name) => name.trim()))
  return new Set([...[...members].map(([, name = '']) => name), ...names])
}

function size(file: Source, limit: number): readonly string[] {
  const lines = file.text.trimEnd().split('\n').length
  return lines > limit ? [`${file.path}: ${lines} lines, at most ${limit}`] : []
}

function name(file: Source): readonly string[] {
  return FORBIDDEN.test(basename(file.path)) ? [`${file.path}: name the file after what it holds`] : []
}

function drawing(root: string, table: ReadonlyMap<string, Row>): readonly string[] {
  const page = join(root, 'ARCHITECTURE.md')
  if (!existsSync(page)) return []
  const drawn = drawnFolders(readFileSync(page, 'utf8'))
  if (!drawn) return ['ARCHITECTURE.md: no fenced tree with src/']
  const rows = [...new Set([...table.keys()].map((row) => row.split('/', 1)[0] ?? ''))].filter(
    (folder) => folder !== ENTRIES,
  )
  return [
    ...rows
      .filter((folder) => !drawn.has(folder))
      .map((folder) => `ARCHITECTURE.md: the tree does not name ${folder}`),
    ...[...drawn]
      .filter((folder) => !rows.includes(folder))
      .map((folder) => `ARCHITECTURE.md: the tree names ${folder}, which has no row in boundaries.json`),
  ]
}

/** The folders one level below `src/` in the first fenced tree that has it. */
function drawnFolders(page: string): ReadonlySet<string> | undefined {
  for (const [, block = ''] of page.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm)) {
    const lines = block.split('\n').flatMap((line) => {
      const found = /^([\s│├└─|`+-]*)([\w.-]+\/?)/.exec(line)
      return found ? [{ depth: found[1]?.length ?? 0, name: found[2] ?? '' }] : []
    })
    const start = lines.findIndex((line) => line.name === 'src/')
    if (start < 0) continue
    const depth = lines[start]?.depth ?? 0
    const rest = lines.slice(start + 1)
    const end = rest.findIndex((line) => line.depth <= depth)
    const inside = end < 0 ? rest : rest.slice(0, end)
    const first = Math.min(...inside.map((line) => line.depth))
    const children = inside.filter((line) => line.depth === first && line.name.endsWith('/'))
    return new Set(children.map((line) => line.name.slice(0, -1)))
  }
  return undefined
}

if (import.meta.filename === process.argv[1]) {
  const breaches = findBreaches(process.cwd())
  for (const breach of breaches) console.error(breach)
  console.log(breaches.length === 0 ? 'boundaries: no breach' : `boundaries: ${breaches.length} breaches`)
  process.exitCode = breaches.length === 0 ? 0 : 1
}
