import type { Reader } from '../../protocol/habits.ts'
import { methodRow } from '../../protocol/methods.ts'
import { readBounded, type Bounds } from '../../wire/bounds.ts'
import { positionalCall } from '../../wire/message.ts'
import type { MakeHabit } from '../habits.ts'

/** Lets methods that no revision knows take params by position, and give back values that are no objects. */
export const jsonrpcLoose: MakeHabit = (choices) => {
  if (!choices.jsonrpcLoose) return undefined
  return {
    read: readLoosely,
    sealOther: (method, result) =>
      methodRow(method) === undefined ? (JSON.stringify(result) ?? 'null') : undefined,
  }
}

const readLoosely: Reader = (text, bounds) => {
  try {
    return readBounded(text, bounds as Bounds)
  } catch (thrown) {
    const call = positionalCall(thrown)
    if (call?.method === undefined || methodRow(call.method) !== undefined) throw thrown
    return call
  }
}
