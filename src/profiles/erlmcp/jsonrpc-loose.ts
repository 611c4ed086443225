import type { Reader } from '../../protocol/wire-adapter.ts'
import { methodRow } from '../../protocol/methods.ts'
import { readBounded, type Bounds } from '../../wire/bounds.ts'
import { positionalCall } from '../../wire/message.ts'
import type { CreateAdapter } from '../adapter.ts'

/** Allows unofficial methods to take positional params and to return values other than objects. */
export const jsonrpcLoose: CreateAdapter = (choices) => {
  if (!choices.jsonrpcLoose) return undefined
  return {
    read: readLoosely,
    allowsNonObject: isUnknown,
    encodeNonObject: (method, result) => (isUnknown(method) ? (JSON.stringify(result) ?? 'null') : undefined),
  }
}

const isUnknown = (method: string): boolean => methodRow(method) === undefined

const readLoosely: Reader = (text, bounds) => {
  try {
    return readBounded(text, bounds as Bounds)
  } catch (thrown) {
    const call = positionalCall(thrown)
    if (call?.method === undefined || !isUnknown(call.method)) throw thrown
    return call
  }
}
