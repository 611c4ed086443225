import { isObject } from './keywords.ts'
import { newMarks, type Compiler, type Marks, type Node, type Rule, type Schema } from './rule.ts'
import { PRICE, spend } from './work.ts'

/** The keywords that apply further schemas to the same value. */
export const branchRules: readonly Rule[] = [
  ({ $ref }, { target }) => (typeof $ref === 'string' ? target($ref) : undefined),
  // A schema has no other resources inside, so that a dynamic reference leads where an ordinary one does.
  ({ $dynamicRef }, { target }) => (typeof $dynamicRef === 'string' ? target($dynamicRef) : undefined),
  ({ allOf }, { inPlace }) => {
    const nodes = nodesOf(allOf, inPlace)
    return nodes && ((value, marks) => nodes.every((node) => node(value, marks)))
  },
  ({ anyOf }, { inPlace }) => {
    const nodes = nodesOf(anyOf, inPlace)
    return nodes && ((value, marks) => countFits(nodes, value, marks, marks ? Infinity : 1) > 0)
  },
  ({ oneOf }, { inPlace }) => {
    const nodes = nodesOf(oneOf, inPlace)
    return nodes && ((value, marks) => countFits(nodes, value, marks, 2) === 1)
  },
  ({ not }, { inPlace }) => {
    if (not === undefined) return undefined
    const node = inPlace(not)
    return (value) => !node(value)
  },
  ifRule,
]

function nodesOf(schemas: unknown, inPlace: Compiler['inPlace']): readonly Node[] | undefined {
  return Array.isArray(schemas) ? schemas.map((schema) => inPlace(schema)) : undefined
}

/** How many of the schemas a value fits, counting no further than needed. */
function countFits(nodes: readonly Node[], value: unknown, marks: Marks | undefined, most: number): number {
  let count = 0
  for (const node of nodes) {
    if (fitsAlone(node, value, marks)) count++
    if (count >= most) break
  }
  return count
}

/** Whether a value fits a schema that it may also not fit: what that schema evaluated counts only if it does. */
function fitsAlone(node: Node, value: unknown, marks: Marks | undefined): boolean {
  if (marks === undefined) return node(value)
  const names = marks.names.length
  const items = marks.items.length
  const fits = node(value, marks)
  if (!fits) {
    marks.names.length = names
    marks.items.length = items
  }
  return fits
}

function ifRule(schema: Schema, { inPlace }: Compiler): Node | undefined {
  if (schema['if'] === undefined) return undefined
  const [condition, yes, no] = [schema['if'], schema['then'] ?? true, schema['else'] ?? true].map(inPlace)
  return (value, marks) => (fitsAlone(condition!, value, marks) ? yes! : no!)(value, marks)
}

/** A check that also applies `unevaluatedProperties` and `unevaluatedItems`, to what all other keywords have left. */
export function unevaluatedRule(node: Node, schema: Schema, { part }: Compiler): Node {
  const { unevaluatedProperties, unevaluatedItems } = schema
  const member = unevaluatedProperties === undefined ? undefined : part(unevaluatedProperties)
  const item = unevaluatedItems === undefined ? undefined : part(unevaluatedItems)
  if (member === undefined && item === undefined) return node
  return (value, outer) => {
    // Members that a sibling branch evaluated do not count here.
    const marks = newMarks()
    if (!node(value, marks)) return false
    spend(PRICE.mark * (marks.names.length + marks.items.length))
    const names = new Set(marks.names)
    const items = new Set(marks.items)
    if (item !== undefined && Array.isArray(value)) {
      spend(PRICE.mark * value.length)
      for (const [at, each] of value.entries()) {
        if (!items.has(at) && !item(each)) return false
        items.add(at)
      }
    }
    if (member !== undefined && isObject(value)) {
      const members = Object.entries(value)
      spend(PRICE.mark * members.length)
      for (const [name, each] of members) {
        if (!names.has(name) && !member(each)) return false
        names.add(name)
      }
    }
    if (outer === undefined) return true
    for (const name of names) outer.names.push(name)
    for (const at of items) outer.items.push(at)
    return true
  }
}
