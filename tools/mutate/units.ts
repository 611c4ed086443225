import { childrenOf, isNode, parse, type Node } from './syntax.ts'

/** A part of a file that runs as a whole: a function, or one of its branches. */
export interface Unit {
  /** `Queue.wait` for a function, `Queue.wait/2` for its second branch; empty for the module itself. */
  readonly name: string
  readonly start: number
  readonly end: number
}

interface Found extends Unit {
  /** `before`, which reports a hit, is inserted at `open`; `shut`, which closes it, at `end`. */
  readonly open: number
  readonly before: string
  readonly shut: string
}

const FUNCTIONS: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
])
const BRANCHES: ReadonlySet<string> = new Set(['consequent', 'alternate', 'body', 'handler', 'finalizer'])

/** Every unit of a source text, the module first. */
export function unitsOf(file: string, text: string): readonly Unit[] {
  return [{ name: '', start: 0, end: text.length }, ...find(file, text)]
}

/** The smallest unit around an offset. */
export function unitAt(units: readonly Unit[], offset: number): Unit {
  const around = units.filter(({ start, end }) => start <= offset && offset < end)
  return around.reduce((least, unit) => (unit.end - unit.start <= least.end - least.start ? unit : least))
}

/** The function that a unit belongs to. */
export function functionOf(unit: string): string {
  return unit.replace(/\/\d+$/, '')
}

/**
 * The same program, which also logs the units that run to a file per process in `folder`.
 * All code stays on its line.
 */
export function instrument(file: string, text: string, folder: string): string {
  const units = find(file, text)
  const opens = units.map(({ open, name, before }) => ({
    at: open,
    text: before.replace('%', () => JSON.stringify(name)),
  }))
  const shuts = units.toReversed().map(({ end, shut }) => ({ at: end, text: shut }))
  let out = ''
  let from = 0
  for (const insert of [...shuts, ...opens].toSorted((one, other) => one.at - other.at)) {
    out += text.slice(from, insert.at) + insert.text
    from = insert.at
  }
  return `${header(file, folder)}${out}${text.slice(from)}`
}

/** Each unit is logged once per process, synchronously, so that the log survives a killed process. */
function header(file: string, folder: string): string {
  const write = `__fs.appendFileSync(${JSON.stringify(`${folder}/`)} + process.pid, line + '\\n')`
  return [
    `const __fs = globalThis.process?.getBuiltinModule?.('node:fs'), __seen = new Set();`,
    `const __hit = (unit) => { if (__seen.has(unit)) return; __seen.add(unit);`,
    `const line = process.ppid + ' ' + ${JSON.stringify(file)} + '#' + unit; if (__fs) ${write} };`,
    `__hit(''); `,
  ].join(' ')
}

function find(file: string, text: string): readonly Found[] {
  const program = parse(file, text)
  const units: Found[] = []
  const names = new Map<string, number>()
  const unique = (name: string): string => {
    const count = (names.get(name) ?? 0) + 1
    names.set(name, count)
    return count === 1 ? name : `${name}~${count}`
  }
  const visit = (node: Node, path: string, hint: string, counter: { branches: number }): void => {
    let inside = path
    let count = counter
    if (FUNCTIONS.has(node.type) && isNode(node['body'])) {
      inside = unique(path === '' ? nameOf(node, hint) : `${path}.${nameOf(node, hint)}`)
      count = { branches: 0 }
      units.push(toUnit(inside, node['body'], node))
    } else if (node.type === 'ClassDeclaration') inside = path === '' ? nameOf(node, '') : path
    for (const [child, member] of childrenOf(node)) {
      const branch = inside !== '' && isBranch(node, child, member)
      if (branch) units.push(toUnit(`${inside}/${++count.branches}`, child, node))
      visit(child, inside, hintFor(node, hint), count)
    }
  }
  if (program) visit(program, '', '', { branches: 0 })
  return units
}

function isBranch(node: Node, child: Node, member: string): boolean {
  if (node.type === 'SwitchCase') return Array.isArray(node['consequent']) && node['consequent'][0] === child
  if (/^(If|For|ForOf|ForIn|While|DoWhile|Try)Statement$/.test(node.type)) {
    return BRANCHES.has(member) && child.type !== 'CatchClause'
  }
  return node.type === 'CatchClause' && member === 'body'
}

function toUnit(name: string, node: Node, parent: Node): Found {
  const { start, end } = node
  if (parent.type === 'SwitchCase')
    return { name, start, end: parent.end, open: start, before: '__hit(%); ', shut: '' }
  if (node.type === 'BlockStatement')
    return { name, start, end, open: start + 1, before: '__hit(%);', shut: '' }
  if (/(Statement|Declaration)$/.test(node.type))
    return { name, start, end, open: start, before: '{ __hit(%); ', shut: ' }' }
  return { name, start, end, open: start, before: '(__hit(%), ', shut: ')' }
}

function nameOf(node: Node, hint: string): string {
  const { id } = node
  return isNode(id) && typeof id['name'] === 'string' ? id['name'] : hint === '' ? 'fn' : hint
}

/** The name that a function gets from its context. */
function hintFor(node: Node, hint: string): string {
  const named = node['key'] ?? (node.type === 'VariableDeclarator' ? node['id'] : undefined)
  if (isNode(named) && typeof named['name'] === 'string') return named['name']
  return node.type === 'ParenthesizedExpression' || node.type.startsWith('TS') ? hint : ''
}
