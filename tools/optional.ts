import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { parseSync, type Statement } from 'oxc-parser'
import { main } from './run.ts'
import { referencesIn } from './surface-references.ts'

/*
 * Under `exactOptionalPropertyTypes`, `{ title?: string }` does not accept `{ title: undefined }`, which callers often have.
 * So every optional member of a public type says `| undefined`.
 */

/** Any node of the syntax tree. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

interface File {
  readonly path: string
  readonly text: string
  readonly body: readonly Statement[]
}

/** An optional member of a public type that does not accept `undefined`. */
export interface Missing {
  /** The file that declares the type. */
  readonly path: string
  readonly declaration: string
  /** The member; `Partial` where that is used. */
  readonly member: string
}

/** The optional members of public types that do not accept `undefined`, in the built declarations under `root`. */
export function findMissing(root: string): readonly Missing[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly types?: string }>>
  }
  const walk: Walk = { root, files: new Map(), seen: new Set(), found: new Map() }
  for (const { types } of Object.values(exports)) {
    if (types === undefined) continue
    const file = load(walk, posix.normalize(types))
    for (const name of exportedBy(walk, file)) visitName(walk, file, name)
  }
  return [...walk.found.values()]
}

interface Walk {
  readonly root: string
  readonly files: Map<string, File>
  /** The names that were visited, where they are declared and on the way there: `path#name`. */
  readonly seen: Set<string>
  readonly found: Map<string, Missing>
}

function load({ root, files }: Walk, path: string): File {
  const known = files.get(path)
  if (known !== undefined) return known
  const text = readFileSync(join(root, path), 'utf8')
  const file: File = { path, text, body: parseSync(path, text).program.body }
  files.set(path, file)
  return file
}

function exportedBy(walk: Walk, file: File): readonly string[] {
  return file.body.flatMap((node) => {
    if (node.type === 'ExportAllDeclaration' && node.source.value.startsWith('.'))
      return exportedBy(walk, load(walk, targetOf(file, node.source.value)))
    if (node.type !== 'ExportNamedDeclaration') return []
    return [
      ...node.specifiers.map(({ exported }) => textOf(file, exported)),
      ...declaredIn(node as unknown as Node),
    ]
  })
}

/** Checks the declaration behind a name, and those of all names that it refers to. */
function visitName(walk: Walk, file: File, name: string): void {
  const own = file.body.filter((node) => declaredIn(node as unknown as Node).includes(name))
  const key = `${file.path}#${name}`
  if (walk.seen.has(key)) return
  walk.seen.add(key)
  if (own.length === 0) return follow(walk, file, name)
  for (const statement of own) {
    visit(statement as unknown as Node, (node) => {
      const member = missingIn(file, node)
      if (member === undefined) return
      const missing = { path: file.path, declaration: name, member }
      walk.found.set(Object.values(missing).join(' '), missing)
    })
    for (const other of referencesIn(statement)) visitName(walk, file, other)
  }
}

function follow(walk: Walk, file: File, name: string): void {
  for (const node of file.body) {
    if (node.type === 'ExportAllDeclaration' && node.source.value.startsWith('.'))
      visitName(walk, load(walk, targetOf(file, node.source.value)), name)
    if (node.type === 'ExportNamedDeclaration' && node.source) {
      const specifier = node.specifiers.find(({ exported }) => textOf(file, exported) === name)
      if (specifier !== undefined && node.source.value.startsWith('.'))
        visitName(walk, load(walk, targetOf(file, node.source.value)), textOf(file, specifier.local))
    }
    if (node.type === 'ImportDeclaration' && node.source.value.startsWith('.')) {
      const specifier = node.specifiers.find(({ local }) => local.name === name)
      if (specifier?.type === 'ImportSpecifier')
        visitName(walk, load(walk, targetOf(file, node.source.value)), textOf(file, specifier.imported))
    }
  }
}

function targetOf(file: File, specifier: string): string {
  return posix.join(dirname(file.path), specifier).replace(/\.[jt]s$/, '.d.ts')
}

/** The member that a node declares without `| undefined`; `Partial` for a use of that type. */
function missingIn(file: File, node: Node): string | undefined {
  if (node.type === 'TSTypeReference')
    return textOf(file, node['typeName'] as Node) === 'Partial' ? 'Partial' : undefined
  const type = optionalType(node)
  return type === undefined || accepts(type) ? undefined : textOf(file, node['key'] as Node)
}

function optionalType({ type, optional, typeAnnotation }: Node): Node | undefined {
  const isMember = type === 'TSPropertySignature' || type === 'PropertyDefinition'
  return isMember && optional === true && isNode(typeAnnotation)
    ? (typeAnnotation['typeAnnotation'] as Node)
    : undefined
}

/** Whether a type includes `undefined`, as far as the text says. */
function accepts(type: Node): boolean {
  if (
    type.type === 'TSUndefinedKeyword' ||
    type.type === 'TSUnknownKeyword' ||
    type.type === 'TSNeverKeyword'
  )
    return true
  if (type.type === 'TSParenthesizedType') return accepts(type['typeAnnotation'] as Node)
  return type.type === 'TSUnionType' && (type['types'] as readonly Node[]).some(accepts)
}

function declaredIn(statement: Node): readonly string[] {
  const inner = (statement['declaration'] ?? statement) as Node
  if (inner.type === 'VariableDeclaration')
    return (inner['declarations'] as readonly Node[]).flatMap(({ id }) => nameOf(id))
  return nameOf(inner['id'])
}

function nameOf(id: unknown): readonly string[] {
  return isNode(id) && id.type === 'Identifier' ? [id['name'] as string] : []
}

function visit(node: Node, enter: (node: Node) => void): void {
  enter(node)
  for (const [name, value] of Object.entries(node))
    // `Type extends { member?: … }` only compares.
    for (const child of name === 'extendsType'
      ? []
      : Array.isArray(value)
        ? (value as readonly unknown[])
        : [value])
      if (isNode(child)) visit(child, enter)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

function textOf(file: File, node: { readonly start: number; readonly end: number }): string {
  return file.text.slice(node.start, node.end)
}

/** A source with `| undefined` added to the given members: `declaration.member`. */
export function withUndefined(path: string, text: string, members: ReadonlySet<string>): string {
  const file: File = { path, text, body: parseSync(path, text).program.body }
  const inserts: { readonly at: number; readonly text: string }[] = []
  for (const statement of file.body as unknown as readonly Node[]) {
    const [name] = declaredIn(statement)
    visit(statement, (node) => {
      const type = optionalType(node)
      if (type === undefined || accepts(type)) return
      if (members.has(`${name}.${textOf(file, node['key'] as Node)}`)) inserts.push(...insertsFor(type))
    })
  }
  return inserts
    .toSorted((a, b) => b.at - a.at)
    .reduce((done, { at, text: more }) => done.slice(0, at) + more + done.slice(at), text)
}

function insertsFor(type: Node): readonly { readonly at: number; readonly text: string }[] {
  const isOpen = ['TSFunctionType', 'TSConstructorType', 'TSConditionalType'].includes(type.type)
  if (!isOpen) return [{ at: type.end, text: ' | undefined' }]
  return [
    { at: type.start, text: '(' },
    { at: type.end, text: ') | undefined' },
  ]
}

/** Corrects the sources, except where `Partial` is used. */
function fix(missing: readonly Missing[]): void {
  for (const path of new Set(missing.map((one) => one.path))) {
    const source = path.replace(/^dist/, 'src').replace(/\.d\.ts$/, '.ts')
    const own = missing.filter((one) => one.path === path)
    const members = new Set(own.map(({ declaration, member }) => `${declaration}.${member}`))
    writeFileSync(source, withUndefined(source, readFileSync(source, 'utf8'), members))
  }
}

function run(): void {
  const missing = findMissing(process.cwd())
  if (missing.length === 0) return
  if (process.argv.includes('--fix')) return fix(missing)
  const lines = missing.map(({ path, declaration, member }) => `${path} ${declaration}.${member}`)
  throw new Error(
    `optional members of public types must accept undefined (and Some replaces Partial); run tsx tools/optional.ts --fix, then build:\n${lines.join('\n')}`,
  )
}

if (import.meta.filename === process.argv[1]) await main(run)
