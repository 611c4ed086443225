import fc from 'fast-check'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'

type Fields = Readonly<Record<string, fc.Arbitrary<unknown>>>

/** Objects with some members always and others now and then. */
export function object(required: Fields, optional: Fields = {}): fc.Arbitrary<JsonObject> {
  return fc.record(
    { ...required, ...optional },
    { requiredKeys: Object.keys(required), noNullPrototype: true },
  )
}

export function map(value: fc.Arbitrary<unknown>): fc.Arbitrary<JsonObject> {
  return fc.dictionary(text, value, { maxKeys: 3, noNullPrototype: true })
}

export function list<Item>(item: fc.Arbitrary<Item>): fc.Arbitrary<Item[]> {
  return fc.array(item, { maxLength: 3 })
}

export function choice<const Value>(...values: readonly Value[]): fc.Arbitrary<Value> {
  return fc.constantFrom(...values)
}

export const text: fc.Arbitrary<string> = fc.string({ maxLength: 12 })
export const base64: fc.Arbitrary<string> = fc.base64String({ maxLength: 16 })
export const uri: fc.Arbitrary<string> = fc.nat(99).map((number) => `harbour://items/${number}`)
export const fraction: fc.Arbitrary<number> = fc.nat(100).map((number) => number / 100)
export const token: fc.Arbitrary<string | number> = fc.oneof(text, fc.integer())

/** Any JSON value that its own text gives back. */
export const json: fc.Arbitrary<unknown> = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown)

/** What the official schema admits where it says JSON value: no fractions and no null. */
export const plain: fc.Arbitrary<unknown> = fc.oneof(text, fc.integer(), fc.boolean())

/** A point in time as the protocol writes it. */
export const moment: fc.Arbitrary<string> = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
