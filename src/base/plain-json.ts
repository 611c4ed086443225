import { McpError } from '../errors/error.ts'
import { badOption } from './options.ts'

/** A value that a handler keeps under a key, as JSON text; throws if JSON would lose part of it. */
export function plainText(where: string, key: string, value: unknown): string {
  const of = `the value of "${key.slice(0, 64)}"`
  const check = function (this: unknown, name: string, item: unknown): unknown {
    const isMember = name !== '' && !Array.isArray(this)
    const problem = item === undefined && isMember ? undefined : problemOf(item)
    if (problem === undefined) return item
    throw unfit(where, `${of} has ${problem}${name === '' ? '' : ` at "${name}"`}`)
  }
  try {
    return JSON.stringify(value, check)
  } catch (error) {
    if (error instanceof McpError) throw error
    throw unfit(where, `${of} cannot be written as JSON: ${(error as Error).message}`)
  }
}

/** Whether an object's content is not in its members: a Map, a Promise, a Response, bytes. */
export function isLost(value: object): boolean {
  if (value instanceof Error || ArrayBuffer.isView(value)) return true
  if ('toJSON' in value || typeof value.valueOf() !== 'object') return false
  // A plain object from another realm has exactly one prototype.
  const isPlain = Object.getPrototypeOf(Object.getPrototypeOf(value)) === null
  return !isPlain && Object.keys(value).length === 0
}

/** What JSON would turn into something else, in words. */
function problemOf(item: unknown): string | undefined {
  if (typeof item === 'number') return Number.isFinite(item) ? undefined : String(item)
  if (item === null || typeof item === 'string' || typeof item === 'boolean') return undefined
  if (typeof item !== 'object') return `a value of type ${typeof item}`
  return isPlain(item) || !isLost(item) ? undefined : `a ${item.constructor.name}`
}

function isPlain(item: object): boolean {
  if (Array.isArray(item)) return true
  const kind = Object.getPrototypeOf(item) as object | null
  return kind === Object.prototype || kind === null
}

function unfit(where: string, reason: string): McpError {
  return badOption(where, `${reason}; keep text, finite numbers, booleans, null, lists and plain objects`)
}
