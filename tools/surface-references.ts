import type { Statement } from 'oxc-parser'

/** `keyof typeof X` or `(typeof X)[number]` in a declaration: a union that is easier to read written out. */
export interface Union {
  readonly start: number
  readonly end: number
  /** The constant whose keys or elements form the union. */
  readonly constant: string
  readonly of: 'keys' | 'elements'
}

/** Any node of the syntax tree. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

/** The names that a declaration refers to, except its own type parameters and the constants of unions. */
export function referencesIn(statement: Statement): readonly string[] {
  const names = new Set<string>()
  const own = new Set<string>()
  visit(statement as unknown as Node, (node) => {
    if (unionOf(node) !== undefined) return false
    if (node.type === 'TSTypeParameter') own.add(nameOf(node['name']))
    if (node.type === 'TSMappedType') own.add(nameOf(node['key']))
    if (node.type === 'TSTypeReference') names.add(nameOf(node['typeName']))
    if (node.type === 'TSTypeQuery') names.add(nameOf(node['exprName']))
    if (node.type === 'TSInterfaceHeritage' || node.type === 'TSClassImplements')
      names.add(nameOf(node['expression']))
    if (node.type === 'ClassDeclaration' && isNode(node['superClass'])) names.add(nameOf(node['superClass']))
    return true
  })
  return [...names].filter((name) => !own.has(name))
}

/** The unions of a declaration that are made from constants. */
export function unionsIn(statement: Statement): readonly Union[] {
  const found: Union[] = []
  visit(statement as unknown as Node, (node) => {
    const union = unionOf(node)
    if (union !== undefined) found.push(union)
    return union === undefined
  })
  return found
}

/** The members of a constant's literal type, as they appear in a union. */
export function membersOf(statement: Statement, text: string): readonly string[] {
  const found: string[] = []
  visit(statement as unknown as Node, (node) => {
    if (node.type === 'TSTypeLiteral')
      for (const member of node['members'] as readonly Node[])
        found.push(`'${nameOf(member['key']).replaceAll(/^['"]|['"]$/g, '')}'`)
    if (node.type === 'TSTupleType')
      for (const element of node['elementTypes'] as readonly Node[])
        found.push(text.slice(element.start, element.end).replaceAll('"', `'`))
    return found.length === 0
  })
  return found
}

/** The union that a node forms from a constant; undefined if it does not. */
export function unionOf(node: Node): Union | undefined {
  const { type, start, end } = node
  if (type === 'TSTypeOperator' && node['operator'] === 'keyof') {
    const constant = queried(node['typeAnnotation'])
    return constant === undefined ? undefined : { start, end, constant, of: 'keys' }
  }
  if (type !== 'TSIndexedAccessType' || (node['indexType'] as Node).type !== 'TSNumberKeyword')
    return undefined
  const constant = queried(node['objectType'])
  return constant === undefined ? undefined : { start, end, constant, of: 'elements' }
}

/** The constant of `typeof X`, in parentheses or not. */
function queried(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  if (node.type === 'TSParenthesizedType') return queried(node['typeAnnotation'])
  return node.type === 'TSTypeQuery' ? nameOf(node['exprName']) : undefined
}

/** The name of an identifier; the first part of a qualified name. */
export function nameOf(node: unknown): string {
  if (typeof node === 'string') return node
  const { type, name, left, value } = node as Node
  if (type === 'TSQualifiedName') return nameOf(left)
  if (type === 'Literal') return String(value)
  return typeof name === 'string' ? name : ''
}

/** Walks a tree; `enter` returns whether to visit the children of a node. */
export function visit(node: Node, enter: (node: Node) => boolean): void {
  if (!enter(node)) return
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? (value as readonly unknown[]) : [value])
      if (isNode(child)) visit(child, enter)
  }
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}
