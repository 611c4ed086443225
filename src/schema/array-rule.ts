import { LONGEST_HASHED, type Identities } from './identities.ts'
import { numberOr, type Compiler, type Node, type Rule, type Schema, type Test } from './rule.ts'
import { PRICE, spend } from './work.ts'

/** All keywords for lists but `unevaluatedItems`. */
export const arrayRule: Rule = (schema, compiler) => {
  const tests = [boundsTest(schema, compiler), itemsNode(schema, compiler), containsNode(schema, compiler)]
  const [first, ...others] = tests.filter((test) => test !== undefined)
  if (first === undefined) return undefined
  if (others.length === 0) return (value, marks) => !Array.isArray(value) || first(value, marks)
  return (value, marks) =>
    !Array.isArray(value) || (first(value, marks) && others.every((test) => test(value, marks)))
}

/** The check of a value that is a list. */
type ListNode = (list: readonly unknown[], marks?: Parameters<Node>[1]) => boolean

function boundsTest(
  { minItems, maxItems, uniqueItems }: Schema,
  { identities }: Compiler,
): ListNode | undefined {
  if (uniqueItems !== true && (minItems ?? maxItems) === undefined) return undefined
  const [least, most] = [numberOr(minItems, 0), numberOr(maxItems, Infinity)]
  return (list) =>
    list.length >= least && list.length <= most && (uniqueItems !== true || isUnique(list, identities))
}

function itemsNode(schema: Schema, { part }: Compiler): ListNode | undefined {
  const { items, prefixItems, additionalItems } = schema
  const isTuple = Array.isArray(items)
  const first = ((isTuple ? items : prefixItems) ?? []) as readonly unknown[]
  const others = isTuple ? additionalItems : items
  if (first.length === 0 && others === undefined) return undefined
  const prefix: readonly Test[] = first.map((sub) => part(sub))
  const rest = others === undefined ? undefined : part(others)
  return (list, marks) => {
    const end = rest === undefined ? Math.min(prefix.length, list.length) : list.length
    for (let at = 0; at < end; at++) {
      if ((prefix[at] ?? rest)?.(list[at]) === false) return false
      marks?.items.push(at)
    }
    return true
  }
}

function containsNode(
  { contains, minContains, maxContains }: Schema,
  { part }: Compiler,
): ListNode | undefined {
  if (contains === undefined) return undefined
  const fits = part(contains)
  const [least, most] = [numberOr(minContains, 1), numberOr(maxContains, Infinity)]
  return (list, marks) => {
    let count = 0
    for (let at = 0; at < list.length; at++) {
      // Every further item matters only to a maximum, and to whoever asks which items were evaluated.
      if (marks === undefined && most === Infinity && count >= least) return true
      if (!fits(list[at])) continue
      count++
      marks?.items.push(at)
    }
    return count >= least && count <= most
  }
}

function isUnique(list: readonly unknown[], identities: Identities): boolean {
  if (list.length < 2) return true
  spend(PRICE.mark * list.length)
  const parts = new Set<number>()
  const numbers: number[] = []
  const others: unknown[] = []
  for (const item of list) {
    if (typeof item === 'object' && item !== null) parts.add(identities.of(item))
    else if (typeof item === 'number') numbers.push(item)
    else {
      if (typeof item === 'string') spend(item.length >> 2)
      others.push(item)
    }
  }
  return parts.size + countNumbers(numbers) + countDistinct(others) === list.length
}

/** How many of some numbers differ. They are sorted, because anyone can find numbers with the same hash, which a set would compare with each other. */
function countNumbers(numbers: readonly number[]): number {
  const sorted = Float64Array.from(numbers).sort()
  let count = 0
  for (let at = 0; at < sorted.length; at++) if (at === 0 || sorted[at] !== sorted[at - 1]) count++
  return count
}

/** How many of some texts and other simple values differ. */
function countDistinct(values: readonly unknown[]): number {
  const seen = new Set<unknown>()
  const long: string[] = []
  for (const value of values) {
    if (typeof value !== 'string' || value.length <= LONGEST_HASHED) seen.add(value)
    else long.push(value)
  }
  const chars = long.reduce((sum, { length }) => sum + length, 0)
  spend((chars / 8) * Math.log2(long.length + 1))
  long.sort()
  return seen.size + long.filter((text, at) => text !== long[at - 1]).length
}
