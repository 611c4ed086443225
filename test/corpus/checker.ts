import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Misfit } from './shape.ts'

/** Checks values by the official names of their shapes. */
export interface Checker {
  /** The name of the request or notification of each method. */
  readonly methods: ReadonlyMap<string, string>
  has(name: string): boolean
  /** With `closed` no member may be unknown to the revision. A finding of kind `unseen` says that nothing could be checked. */
  check(name: string, value: unknown, mode: 'open' | 'closed'): Misfit | undefined
}

/** What the official schema of a revision says; each check gives the first complaint or undefined. */
export interface Official {
  /** Checks a whole request or notification. */
  message(method: string, message: JsonObject): string | undefined
  /** Checks the result of a method. */
  result(method: string, result: JsonObject): string | undefined
  /** Checks one shape by its official name. With `closed` no member may be unknown to the revision. */
  shape(name: string, value: unknown, closed?: 'closed'): string | undefined
}

/** The checks that tests ask for, by the method or the name of a shape. */
export function toOfficial(checker: Checker): Official {
  const check = (name: string, value: unknown, mode: 'open' | 'closed' = 'open'): string | undefined => {
    const misfit = checker.check(name, value, mode)
    if (misfit === undefined) return undefined
    return `${name}${misfit.kind === 'unseen' ? ' cannot be checked' : ''}: ${misfit.text}`
  }
  return {
    message: (method, message) => check(checker.methods.get(method) ?? kindOf(method, message), message),
    result: (method, result) => {
      const name = checker.methods.get(method)?.replace(/Request$/, 'Result') ?? ''
      return check(checker.has(name) ? name : 'EmptyResult', result)
    },
    shape: check,
  }
}

/** Of what an extension says, the protocol knows only whether it is asked or told. */
function kindOf(method: string, message: JsonObject): string {
  if (!/^(?:notifications\/)?[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+\/./.test(method)) return `message for ${method}`
  return 'id' in message ? 'JSONRPCRequest' : 'JSONRPCNotification'
}
