import { arrayRule } from './array-rule.ts'
import { branchRules, unevaluatedRule } from './branch-rules.ts'
import { toDialect } from './dialect.ts'
import { createIdentities } from './identities.ts'
import { isObject } from './keywords.ts'
import { objectRule } from './object-rule.ts'
import { findReferences, multiplies } from './recursion.ts'
import { toResolver } from './reference.ts'
import type { Compiler, Node, Rule, Test } from './rule.ts'
import { numberRule, stringRule, typeRule, valueRules } from './scalar-rules.ts'
import { PRICE, spend } from './work.ts'

/** Cheap ones first: most values that do not fit are given up there. */
const RULES: readonly Rule[] = [
  typeRule,
  ...valueRules,
  numberRule,
  stringRule,
  objectRule,
  arrayRule,
  ...branchRules,
]

/** The check of any schema that `inspect` has let through, made of plain closures. Formats are annotations. */
export function compile(schema: unknown): Test {
  const root = isObject(schema) ? toDialect(schema) : schema
  const nodes = new Map<object, Node>()
  const resolve = toResolver(root)
  const hasReference = findReferences()
  const memo = isObject(root) && multiplies(root) ? createMemo() : undefined
  const identities = createIdentities()
  const compiler: Compiler = {
    identities,
    inPlace: nodeOf,
    part: (part) =>
      memo !== undefined && isObject(part) && hasReference(part) ? memo.remember(nodeOf(part)) : nodeOf(part),
    target(reference) {
      // Made when it is needed first, because it may be a schema that is being made.
      let target: Node | undefined
      return (value, marks) => {
        target ??= nodeOf(resolve(reference))
        return target(value, marks)
      }
    },
  }
  const node = nodeOf(root)
  return (value) => {
    try {
      return node(value)
    } finally {
      memo?.clear()
      identities.clear()
    }
  }

  function nodeOf(part: unknown): Node {
    if (!isObject(part)) return part === true ? ANYTHING : NOTHING
    let known = nodes.get(part)
    if (known === undefined) {
      const rules = RULES.flatMap((rule) => rule(part, compiler) ?? [])
      nodes.set(part, (known = unevaluatedRule(all(rules), part, compiler)))
    }
    return known
  }
}

/** Compares each part of a value with each schema once, however many ways lead there. */
function createMemo(): { remember(node: Node): Test; clear(): void } {
  const verdicts = new Map<Node, Map<object, boolean>>()
  return {
    clear: () => verdicts.clear(),
    remember: (node) => (value) => {
      if (typeof value !== 'object' || value === null) return node(value)
      let known = verdicts.get(node)
      if (known === undefined) verdicts.set(node, (known = new Map()))
      let verdict = known.get(value)
      if (verdict === undefined) known.set(value, (verdict = node(value)))
      return verdict
    },
  }
}

const ANYTHING: Node = () => (spend(PRICE.node), true)
const NOTHING: Node = () => false

function all(nodes: readonly Node[]): Node {
  const [first, second] = nodes
  if (first === undefined) return ANYTHING
  if (second === undefined) return (value, marks) => (spend(PRICE.node), first(value, marks))
  if (nodes.length === 2)
    return (value, marks) => (spend(PRICE.node), first(value, marks) && second(value, marks))
  return (value, marks) => (spend(PRICE.node), nodes.every((node) => node(value, marks)))
}
