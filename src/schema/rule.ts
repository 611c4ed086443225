import type { Identities } from './identities.ts'

/** Says whether a value fits. */
export type Test = (value: unknown) => boolean

/**
 * The check of one schema. It notes in `marks` which parts of the value it has looked at, if anyone asks: only
 * `unevaluatedProperties` and `unevaluatedItems` do.
 */
export type Node = (value: unknown, marks?: Marks) => boolean

/**
 * The members and items of one value that schemas have evaluated, in the order in which they did, some several times. To
 * forget what a branch has noted, the end of the lists is cut off.
 */
export interface Marks {
  readonly names: string[]
  readonly items: number[]
}

export type Schema = Readonly<Record<string, unknown>>

/** Makes the checks of the schemas inside a schema. */
export interface Compiler {
  /** Of one that applies to the same value. */
  inPlace(schema: unknown): Node
  /** Of one that applies to a part of the value. */
  part(schema: unknown): Test
  /** Of the one that a reference leads to. */
  target(reference: string): Node
  /** Of the value that is being checked. */
  readonly identities: Identities
}

/** The check of some keywords of a schema; undefined when it has none of them. */
export type Rule = (schema: Schema, compiler: Compiler) => Node | undefined

export function newMarks(): Marks {
  return { names: [], items: [] }
}

/** The number in a keyword, or what stands for a missing one. */
export function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}
