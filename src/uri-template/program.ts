import { ENCODED, readUnits, RESERVED, textOf, unitOf, UNRESERVED, type Units } from './characters.ts'
import type { Expression, Part, Variable } from './expression.ts'

/** The characters that a value may contain: certain kinds, except certain delimiters. */
export interface Allowed {
  readonly kinds: number
  readonly except: readonly number[]
}

/** A named value that may appear in a list of pairs. */
export interface Named {
  readonly units: Units
  readonly slot: number
  readonly most: number
}

/**
 * One step of matching. Given a choice, a value ends as soon as the rest can match.
 * `one` opens a value with its first character, `rest` takes more. `maybe` opens a value by its delimiter or skips ahead,
 * `again` opens a further item of an exploded value, `pairs` takes a whole list of named values.
 */
export type Step = TextStep | OneStep | RestStep | MaybeStep | AgainStep | PairsStep

export interface TextStep {
  readonly kind: 'text'
  readonly units: Units
  readonly text: string
}

export interface OneStep {
  readonly kind: 'one'
  readonly slot: number
  readonly allowed: Allowed
  readonly most: number
}

export interface RestStep {
  readonly kind: 'rest'
  readonly slot: number
  readonly allowed: Allowed
}

export interface MaybeStep {
  readonly kind: 'maybe'
  readonly slot: number
  readonly delimiter: number
  readonly most: number
  /** The step to continue with if the value is absent. */
  readonly skip: number
  /** Whether to take the value if it could also be absent. */
  readonly eager: boolean
}

export interface AgainStep {
  readonly kind: 'again'
  readonly slot: number
  readonly delimiter: number
  readonly back: number
}

export interface PairsStep {
  readonly kind: 'pairs'
  readonly opener: number
  readonly separator: number
  readonly allowed: Allowed
  readonly names: readonly Named[]
}

/** A template compiled for matching; a slot is one occurrence of a variable. */
export interface Program {
  readonly steps: readonly Step[]
  readonly slots: readonly Variable[]
}

/** Compiles the parts of a template for matching; undefined if a literal is not valid UTF-8. */
export function compile(parts: readonly Part[]): Program | undefined {
  const draft: Draft = { steps: [], slots: [] }
  for (const part of parts) {
    if (typeof part !== 'string') {
      addExpression(draft, part)
      continue
    }
    const units = readUnits(part)
    if (units === undefined) return undefined
    draft.steps.push(toText(units))
  }
  return draft
}

interface Draft {
  readonly steps: Step[]
  readonly slots: Variable[]
}

function addExpression(draft: Draft, expression: Expression): void {
  if (expression.operator.named) addPairs(draft, expression)
  else if (expression.operator.first === '') addBare(draft, expression)
  else addDelimited(draft, expression)
}

const PLAIN: Allowed = { kinds: UNRESERVED | ENCODED, except: [] }
const ANYTHING: Allowed = { kinds: UNRESERVED | ENCODED | RESERVED, except: [] }
const QUERY: Allowed = { kinds: UNRESERVED | ENCODED | RESERVED, except: [unitOf('&'), unitOf('#')] }

function addPairs(draft: Draft, { operator, variables }: Expression): void {
  const names: Named[] = []
  for (const variable of variables) {
    const slot = draft.slots.push(variable) - 1
    const units = readUnits(variable.name)
    if (units !== undefined) names.push({ units, slot, most: variable.prefix ?? Infinity })
  }
  const allowed = operator.symbol === ';' ? PLAIN : QUERY
  const [opener, separator] = [unitOf(operator.first), unitOf(operator.separator)]
  draft.steps.push({ kind: 'pairs', opener, separator, allowed, names })
}

function addBare({ steps, slots }: Draft, { operator, variables }: Expression): void {
  for (const [index, variable] of variables.entries()) {
    const slot = slots.push(variable) - 1
    const allowed = allowedIn(operator.keepReserved ? ANYTHING : PLAIN, variable, ',')
    if (index > 0) steps.push(toText(Int32Array.of(unitOf(','))))
    const back = steps.push({ kind: 'one', slot, allowed, most: variable.prefix ?? Infinity }) - 1
    steps.push({ kind: 'rest', slot, allowed })
    if (variable.explode) steps.push({ kind: 'again', slot, delimiter: unitOf(','), back })
  }
}

function addDelimited({ steps, slots }: Draft, { operator, variables }: Expression): void {
  const lengths = variables.map(({ explode }) => (explode ? 3 : 2))
  const end = lengths.reduce((sum, length) => sum + length, steps.length)
  for (const [index, variable] of variables.entries()) {
    const slot = slots.push(variable) - 1
    const delimiter = unitOf(index === 0 ? operator.first : operator.separator)
    const allowed = allowedIn(operator.keepReserved ? ANYTHING : PLAIN, variable, operator.separator)
    const after = steps.length + (lengths[index] ?? 0)
    // The next value may follow an empty exploded one if it has the same delimiter.
    const skip = variable.explode && operator.first === operator.separator ? after : end
    const most = variable.prefix ?? Infinity
    steps.push({ kind: 'maybe', slot, delimiter, most, skip, eager: !variable.explode })
    const back = steps.push({ kind: 'rest', slot, allowed }) - 1
    if (variable.explode) steps.push({ kind: 'again', slot, delimiter: unitOf(operator.separator), back })
  }
}

function allowedIn(allowed: Allowed, variable: Variable, separator: string): Allowed {
  return variable.explode ? { ...allowed, except: [unitOf(separator)] } : allowed
}

function toText(units: Units): Step {
  return { kind: 'text', units, text: textOf(units) }
}
