import type { ErrorExtras } from '../errors/error.ts'
import { printable } from '../errors/printable.ts'
import type { Dialect } from '../protocol/switches.ts'
import { pathText, shorten, toLine, type Issue } from '../schema/issue.ts'

/** The checked arguments, and the dialect of the caller. */
interface Sent {
  readonly value: unknown
  readonly dialect: Dialect
}

/** The `data` of an error about arguments: the field, the problem, and the expected type. */
export function issueExtras(first: Issue | undefined, sent?: Sent): ErrorExtras {
  if (first === undefined || first.path.length === 0) return {}
  const { expected, got, path, problem } = first
  const missing = 'got' in first && got === undefined
  const refusal = missing ? 'MISSING_REQUIRED_FIELD' : 'FIELD_TYPE_MISMATCH'
  const data = {
    details: toLine([{ path: [], problem }]),
    field: printable(pathText(path)),
    type: missing ? 'required' : got === undefined ? 'invalid_value' : 'type_mismatch',
    ...(expected === undefined ? {} : { expectedType: expected }),
    ...received(path, sent),
  }
  return 'got' in first ? { refusal, data } : { data }
}

/** Parts of field names whose values are never repeated. */
const SECRET = /pass|pwd|secret|token|credential|authori[sz]ation|cookie|private|(?:api|access)[-_ ]?key/i
/** The same for short words, which must match as whole words. */
const SECRET_WORD = /\b(?:pin|o?auth|cvv|cvc)\b/i

/** Whether a field's name suggests a secret: `userPin` and `PIN_CODE` do, `shipping` does not. */
function isSecret(step: PropertyKey): boolean {
  const name = String(step)
  const words = name
    .replaceAll(/([a-z])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3 $2$4')
    .replaceAll(/[^A-Za-z]+/g, ' ')
  return SECRET.test(name) || SECRET_WORD.test(words)
}

/** The value at a path, if it may be shown: large or nested values are omitted, and strings are shortened. */
function received(path: Issue['path'], sent: Sent | undefined): { readonly receivedValue?: unknown } {
  if (sent?.dialect.receivedValues !== 'shown' || path.some(isSecret)) return {}
  let value = sent.value
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return {}
    value = (value as Readonly<Record<PropertyKey, unknown>>)[step]
  }
  if (typeof value === 'string') return { receivedValue: printable(shorten(value)) }
  return typeof value === 'object' && value !== null ? {} : { receivedValue: value }
}
