import type { Statement } from 'oxc-parser'
import { isNode, nameOf, unionOf, visit, type Node } from './surface-references.ts'

/** A part of a declaration that needs a comment. */
export interface Part {
  /** The declaration and the members that lead to the part, such as `Options.tls.key`. */
  readonly name: string
  readonly start: number
  /** Where the member or function around it begins, whose comment may describe it too: by its name in backquotes. */
  readonly owner?: number | undefined
  /** Whether it is an option that may be left out, so that its comment must say the default. */
  readonly hasDefault: boolean
}

/** The members of a declaration, and those of the object types within it, such as the options of a parameter. */
export function partsOf(statement: Statement, name: string): readonly Part[] {
  const found: Part[] = []
  const inner = ('declaration' in statement ? statement.declaration : statement) as unknown as Node
  if (inner.type === 'VariableDeclaration') {
    visit(inner, (node) => {
      const key = keyOf(node)
      // A constant is a table. A row may describe itself; its columns are documented where their type is.
      if (key !== undefined && !describesItself(node))
        found.push({ name: `${name}.${key}`, start: node.start, hasDefault: false })
      return key === undefined
    })
  } else collect(inner, name, inner.type === 'TSDeclareFunction' ? statement.start : undefined, found)
  return found
}

/** The constants whose keys are the members of a mapped type in a declaration. */
export function tablesIn(statement: Statement): readonly string[] {
  const found: string[] = []
  visit(statement as unknown as Node, (node) => {
    const { constraint } = node
    const union = node.type === 'TSMappedType' && isNode(constraint) ? unionOf(constraint) : undefined
    if (union?.of === 'keys') found.push(union.constant)
    return true
  })
  return found
}

/** Children of a node that compare types or name them, and so have no members for a reader. */
const SKIPPED: ReadonlySet<string> = new Set(['extendsType', 'typeParameters'])

function collect(node: Node, path: string, owner: number | undefined, found: Part[]): void {
  if (isHidden(node)) return
  const key = keyOf(node)
  if (key !== undefined && key !== 'constructor') {
    const hasDefault = node['optional'] === true && path.endsWith('Options')
    found.push({ name: `${path}.${key}`, start: node.start, owner, hasDefault })
  }
  const [below, around] = key === undefined ? [path, owner] : [`${path}.${key}`, node.start]
  for (const [name, value] of Object.entries(node)) {
    if (SKIPPED.has(name)) continue
    for (const child of Array.isArray(value) ? (value as readonly unknown[]) : [value])
      if (isNode(child)) collect(child, below, around, found)
  }
}

const MEMBERS: ReadonlySet<string> = new Set([
  'TSPropertySignature',
  'TSMethodSignature',
  'PropertyDefinition',
  'MethodDefinition',
  'TSAbstractPropertyDefinition',
  'TSAbstractMethodDefinition',
])

/** The name of a member; undefined for nodes that are not members. */
function keyOf(node: Node): string | undefined {
  if (node.type === 'TSCallSignatureDeclaration') return '()'
  if (!MEMBERS.has(node.type)) return undefined
  const key = node['key'] as Node
  return key.type === 'MemberExpression'
    ? `[${nameOf(key['object'])}.${nameOf(key['property'])}]`
    : nameOf(key)
}

function isHidden(node: Node): boolean {
  const { key, accessibility } = node
  return accessibility === 'private' || (isNode(key) && key.type === 'PrivateIdentifier')
}

/** Whether a row of a table has a column that describes it. */
function describesItself(row: Node): boolean {
  let found = false
  visit(row, (node) => {
    if (node.type === 'TSTypeLiteral')
      found = (node['members'] as readonly Node[]).some((member) => keyOf(member) === 'about')
    return node.type !== 'TSTypeLiteral'
  })
  return found
}

/** A comment as Markdown: its examples become code. */
export function toMarkdown(comment: string): string {
  const [text = '', ...examples] = comment.split(/^@example\n/m)
  return [text.trim(), ...examples.map((example) => fenced(example.trim()))]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** Code in Markdown. */
export function fenced(code: string): string {
  const fence = code.includes('```') ? '````' : '```'
  return `${fence}ts\n${code}\n${fence}`
}
