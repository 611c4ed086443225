import { parseSync } from 'oxc-parser'

interface Node {
  readonly type: string
  readonly start: number
  readonly [member: string]: unknown
}

/**
 * The titles of scenarios and listed checks in a file that assert nothing. The linter sees only direct calls of `test`;
 * these become tests elsewhere.
 */
export function withoutAssertion(file: string, text: string): readonly string[] {
  const found: string[] = []
  for (const node of nodesIn(parseSync(file, text).program)) {
    const run = node.type === 'CallExpression' ? runOfScenario(node) : runOfCheck(node)
    if (run === undefined || [...nodesIn(run.body)].some(isAssertion)) continue
    found.push(text.slice(run.title.start, run.title['end'] as number))
  }
  return found
}

/**
 * Regular expressions among the expected members of `toMatchObject`. It compares only own properties, and a regular
 * expression has none, so it matches anything; `expect.stringMatching` is meant.
 */
export function patternsThatMatchAll(file: string, text: string): readonly string[] {
  return [...nodesIn(parseSync(file, text).program)]
    .filter((node) => node.type === 'CallExpression' && isMatchObject(node['callee'] as Node))
    .flatMap((call) => [...expectedIn(call['arguments'])])
    .map((pattern) => text.slice(pattern.start, pattern['end'] as number))
}

function isMatchObject({ type, property }: Node): boolean {
  return type === 'MemberExpression' && nameOf(property as Node) === 'toMatchObject'
}

/** The regular expressions in a value, except in the arguments of calls. */
function* expectedIn(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return
  const node = value as Node
  if (node.type === 'CallExpression') return
  if (node.type === 'Literal' && 'regex' in node) yield node
  else for (const member of Object.values(node)) yield* expectedIn(member)
}

interface Run {
  readonly title: Node
  readonly body: unknown
}

/** `scenario(title, …, run, …)`: the last function argument is the one that runs. */
function runOfScenario(call: Node): Run | undefined {
  const [title, ...rest] = call['arguments'] as Node[]
  const body = rest.findLast(({ type }) => type.endsWith('FunctionExpression'))
  return nameOf(call['callee'] as Node) === 'scenario' && title !== undefined ? { title, body } : undefined
}

/** `{ title, …, run }`. A `run` defined elsewhere cannot be inspected, and counts as one without an assertion. */
function runOfCheck(node: Node): Run | undefined {
  if (node.type !== 'ObjectExpression') return undefined
  const members = (node['properties'] as Node[]).filter(({ type }) => type === 'Property')
  const valueOf = (name: string): Node | undefined =>
    members.find(({ key }) => nameOf(key as Node) === name)?.['value'] as Node | undefined
  const title = valueOf('title')
  const body = valueOf('run')
  return title !== undefined && body !== undefined ? { title, body } : undefined
}

const ASSERTION = /^((expect|assert)\w*|expect\.(poll|soft)|fc\.assert)$/

function isAssertion(node: Node): boolean {
  if (node.type !== 'CallExpression') return false
  const callee = node['callee'] as Node
  const names = callee.type === 'MemberExpression' ? [callee['object'], callee['property']] : [callee]
  return ASSERTION.test(names.map((one) => nameOf(one as Node)).join('.'))
}

function nameOf({ type, name }: Node): string | undefined {
  return type === 'Identifier' ? (name as string) : undefined
}

function* nodesIn(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return
  if (typeof (value as Node).type === 'string') yield value as Node
  for (const member of Object.values(value)) yield* nodesIn(member)
}
