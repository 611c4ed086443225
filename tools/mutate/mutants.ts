import { Random } from '../../test/fuzz/random.ts'
import { bare, childrenOf, isNode, lineAt, parse, type Node } from './syntax.ts'

/** One change at one place in a source file. */
export interface Mutant {
  readonly file: string
  readonly line: number
  readonly start: number
  readonly end: number
  /** The kind of change. */
  readonly kind: string
  /** The text between `start` and `end`, and its replacement. */
  readonly original: string
  readonly mutated: string
}

/** The possible changes at one place. */
export type Site = readonly Mutant[]

type Change = readonly [kind: string, node: Place, mutated: string]
type Place = Pick<Node, 'start' | 'end'>

// oxfmt-ignore
const SWAPPED: Readonly<Record<string, string>> = {
  '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===', '==': '!=', '!=': '==',
  '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '&': '|', '|': '&', '^': '&', '<<': '>>', '>>': '<<', '>>>': '<<',
  '&&': '||', '||': '&&', '+=': '-=', '-=': '+=', '*=': '/=', '|=': '&=', '&=': '|=',
}

/** Table columns that only people and source checks read. */
const UNREAD: ReadonlySet<string> = new Set(['reader', 'text', 'hint', 'about', 'description'])

/** Every place in a source text where a change may alter the behaviour. */
export function sitesOf(file: string, text: string): readonly Site[] {
  const sites: Site[] = []
  const visit = (node: Node, parent: Node | undefined, member: string): void => {
    if (isWording(node, parent)) return
    const changes = changesOf(node, parent, member, text)
    const mutants = changes.map(([kind, { start, end }, mutated]) => {
      const original = text.slice(start, end)
      return { file, line: lineAt(text, start), start, end, kind, original, mutated }
    })
    if (mutants.length > 0) sites.push(mutants)
    for (const [child, name] of childrenOf(node)) visit(child, node, name)
  }
  const program = parse(file, text)
  if (program) visit(program, undefined, '')
  return sites
}

/** The text with the change applied. */
export function apply(text: string, { start, end, mutated }: Mutant): string {
  return text.slice(0, start) + mutated + text.slice(end)
}

/**
 * Draws `count` mutants of a tree, which depend only on the seed and the sources: first a place, each at most once, then one
 * of its changes. A change that does not parse is discarded.
 */
export function draw(sources: ReadonlyMap<string, string>, seed: number, count: number): readonly Mutant[] {
  const random = new Random(seed, 'mutate')
  const sites = [...sources].flatMap(([file, text]) => sitesOf(file, text))
  const drawn: Mutant[] = []
  while (drawn.length < count && sites.length > 0) {
    const [site = []] = sites.splice(random.below(sites.length), 1)
    const mutant = random.pick(site)
    if (parse(mutant.file, apply(sources.get(mutant.file) ?? '', mutant))) drawn.push(mutant)
  }
  return drawn
}

/** Whether a node is only prose for people: no test should pin the words of a message. */
function isWording(node: Node, parent: Node | undefined): boolean {
  const key = parent?.type === 'Property' && parent['value'] === node ? parent['key'] : undefined
  const isLiteral = node.type === 'Literal' || node.type === 'TemplateLiteral'
  return hasWords(node) || (isLiteral && isNode(key) && UNREAD.has(String(key['name'])))
}

/** Whether a literal has two words separated by space, outside the expressions of a template. */
function hasWords(node: Node): boolean {
  if (node.type === 'Literal') return typeof node['value'] === 'string' && WORDS.test(node['value'])
  if (node.type !== 'TemplateLiteral' || !Array.isArray(node['quasis'])) return false
  const texts = node['quasis'].map((part: { value: { raw: string } }) => part.value.raw)
  return WORDS.test(texts.join('{}'))
}
const WORDS = /[\p{L}\p{N}"'}{:,)]\s+[\p{L}\p{N}"'{(]/u

function changesOf(node: Node, parent: Node | undefined, member: string, text: string): readonly Change[] {
  const own = CHANGES[node.type]?.(node, text, parent) ?? []
  return [...own, ...conditionChanges(node, parent, member, text)]
}

const TESTED: ReadonlySet<string> = new Set(['IfStatement', 'ConditionalExpression'])
const LOOPS: ReadonlySet<string> = new Set(['WhileStatement', 'ForStatement', 'DoWhileStatement'])

/** Conditions are negated and forced. Loops are only forced to end, since a hang proves little and takes long. */
function conditionChanges(
  node: Node,
  parent: Node | undefined,
  member: string,
  text: string,
): readonly Change[] {
  if (member !== 'test' || !parent) return []
  if (LOOPS.has(parent.type)) return isTrue(node) ? [] : [['never loop', node, 'false']]
  if (!TESTED.has(parent.type)) return []
  return [
    ['negate condition', node, `!(${text.slice(node.start, node.end)})`],
    ['always', node, 'true'],
    ['never', node, 'false'],
  ]
}

function isTrue(node: Node): boolean {
  return node.type === 'Literal' && node['value'] === true
}

const CHANGES: Readonly<
  Record<string, (node: Node, text: string, parent: Node | undefined) => readonly Change[]>
> = {
  BinaryExpression: operatorChanges,
  AssignmentExpression: operatorChanges,
  LogicalExpression: (node, text) => {
    const { left, right, operator } = node
    if (!isNode(left) || !isNode(right)) return []
    const sides: readonly Change[] = [
      ['left only', node, text.slice(left.start, left.end)],
      ['right only', node, text.slice(right.start, right.end)],
    ]
    return operator === '??' ? sides : [...operatorChanges(node, text), ...sides]
  },
  UnaryExpression: (node, text) => {
    const { argument, operator } = node
    if (!isNode(argument) || (operator !== '!' && operator !== '-')) return []
    return [['drop operator', node, text.slice(argument.start, argument.end)]]
  },
  UpdateExpression: (node, text) => {
    const whole = text.slice(node.start, node.end)
    const swapped = whole.includes('++') ? whole.replace('++', '--') : whole.replace('--', '++')
    return [['swap operator', node, swapped]]
  },
  ExpressionStatement: (node) => (isPlainAssertion(node) ? [] : [['remove statement', node, '{}']]),
  ThrowStatement: (node) => [['remove statement', node, '{}']],
  BreakStatement: (node) => [['remove statement', node, '{}']],
  ContinueStatement: (node) => [['remove statement', node, '{}']],
  ReturnStatement: (node) => {
    const { argument } = node
    if (!isNode(argument)) return [['remove statement', node, '{}']]
    return isUndefined(argument) || isBoolean(argument) ? [] : [['return nothing', node, 'return undefined']]
  },
  ArrowFunctionExpression: ({ body, expression }) =>
    expression === true && isNode(body) && !isUndefined(body) && !isBoolean(body)
      ? [['return nothing', body, 'undefined']]
      : [],
  Literal: literalChanges,
  TemplateLiteral: (node, text) =>
    text.slice(node.start, node.end) === '``' ? [] : [['empty text', node, '``']],
  MemberExpression: chainChanges,
  CallExpression: chainChanges,
  ArrayExpression: ({ elements }, text) => dropChanges(elements, text),
  ObjectExpression: ({ properties }, text) => dropChanges(properties, text),
}

/** `TABLE satisfies Type` and a lone name have no effect. */
function isPlainAssertion({ expression }: Node): boolean {
  return isNode(expression) && ['Identifier', 'Literal'].includes(bare(expression).type)
}

/** Boolean literals are flipped elsewhere. */
function isBoolean(node: Node): boolean {
  return node.type === 'Literal' && typeof node['value'] === 'boolean'
}

function isUndefined(node: Node): boolean {
  return (
    (node.type === 'Identifier' && node['name'] === 'undefined') ||
    (node.type === 'UnaryExpression' && node['operator'] === 'void')
  )
}

function operatorChanges(node: Node, text: string): readonly Change[] {
  const { left, right, operator } = node
  if (!isNode(left) || !isNode(right) || typeof operator !== 'string') return []
  if (operator === '??=') return [['swap operator', operatorPlace(left, right, operator, text), '=']]
  const swapped = SWAPPED[operator]
  const joins = operator.startsWith('+') && [left, right].some((side) => isText(bare(side)))
  if (swapped === undefined || joins) return []
  return [['swap operator', operatorPlace(left, right, operator, text), swapped]]
}

function operatorPlace(left: Node, right: Node, operator: string, text: string): Place {
  const start = left.end + text.slice(left.end, right.start).lastIndexOf(operator)
  return { start, end: start + operator.length }
}

function isText(node: Node): boolean {
  if (node.type === 'BinaryExpression' && isNode(node['left']) && isNode(node['right']))
    return isText(bare(node['left'])) || isText(bare(node['right']))
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string')
}

function literalChanges(node: Node, text: string, parent: Node | undefined): readonly Change[] {
  const { value } = node
  if (parent !== undefined && parent['key'] === node) return []
  if (typeof value === 'boolean') return [['flip', node, String(!value)]]
  if (typeof value === 'number') return [['other number', node, value === 1 ? '2' : String(value + 1)]]
  if (typeof value === 'string') return [['other text', node, value === '' ? `'mutant'` : `''`]]
  return isNode(node) && node['regex'] != null ? patternChanges(node, text) : []
}

/** Drops the anchor at the start or end of a pattern. */
function patternChanges(node: Node, text: string): readonly Change[] {
  const whole = text.slice(node.start, node.end)
  const first: readonly Change[] =
    whole.startsWith('/^') && !whole.startsWith('/^/') ? [['drop anchor', node, `/${whole.slice(2)}`]] : []
  const last = /(?<!\\)\$(\/[a-z]*)$/.test(whole) && whole !== '/$/'
  return last ? [...first, ['drop anchor', node, whole.replace(/\$(\/[a-z]*)$/, '$1')]] : first
}

function chainChanges(node: Node, text: string): readonly Change[] {
  const holder = node['object'] ?? node['callee']
  if (node['optional'] !== true || !isNode(holder)) return []
  const start = holder.end + text.slice(holder.end, node.end).indexOf('?.')
  const dotted = node.type === 'MemberExpression' && node['computed'] !== true
  return [['drop ?.', { start, end: start + 2 }, dotted ? '.' : '']]
}

/** Drops elements and properties one at a time. */
function dropChanges(items: unknown, text: string): readonly Change[] {
  if (!Array.isArray(items)) return []
  return items.filter(isNode).map((item) => {
    const comma = /^\s*,\s*/.exec(text.slice(item.end))
    return ['drop element', { start: item.start, end: item.end + (comma?.[0].length ?? 0) }, '']
  })
}
