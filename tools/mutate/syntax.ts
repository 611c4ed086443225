import { parseSync } from 'oxc-parser'

/** A node of the syntax tree, with its place in the text. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

/** Members that contain types, which have no effect at run time. */
const TYPES: ReadonlySet<string> = new Set([
  'typeAnnotation',
  'typeParameters',
  'typeArguments',
  'returnType',
  'superTypeArguments',
  'implements',
])
const WRAPPERS: ReadonlySet<string> = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
])
const SKIPPED: ReadonlySet<string> = new Set([
  'ImportDeclaration',
  'ExportAllDeclaration',
  'ExportSpecifier',
  'ImportExpression',
])

/** The syntax tree of a TypeScript file, or undefined if the text has a syntax error. */
export function parse(file: string, text: string): Node | undefined {
  const { program, errors } = parseSync(file, text)
  return errors.length > 0 ? undefined : (program as unknown as Node)
}

/** The children that run, in source order, each with the name of its member. */
export function childrenOf(node: Node): readonly (readonly [Node, string])[] {
  if (SKIPPED.has(node.type)) return []
  if (node.type.startsWith('TS') && !WRAPPERS.has(node.type)) return []
  const found: (readonly [Node, string])[] = []
  for (const [member, value] of Object.entries(node)) {
    if (TYPES.has(member) || (member === 'source' && node.type === 'ExportNamedDeclaration')) continue
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    for (const one of values) if (isNode(one)) found.push([one, member])
  }
  return found.toSorted(([one], [other]) => one.start - other.start)
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

/** The expression without the parentheses and type assertions around it. */
export function bare(node: Node): Node {
  const inner = node['expression']
  const wrapped = WRAPPERS.has(node.type) || node.type === 'ParenthesizedExpression'
  return wrapped && isNode(inner) ? bare(inner) : node
}

/** The line of an offset, counted from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}
