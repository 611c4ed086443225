import { createRequire } from 'node:module'
import type { Revision } from '../../src/protocol/revisions.ts'
import type { Checker } from './checker.ts'
import type { Misfit } from './shape.ts'

/** The part of Standard Schema that is used here. */
interface Validator {
  readonly '~standard': {
    validate(value: unknown): { readonly issues?: readonly Issue[] | undefined }
  }
}
interface Issue {
  readonly message: string
  readonly path?: readonly unknown[] | undefined
}

const load = createRequire(import.meta.url)

/** The schemas that the official SDKs export, by official name, for the revisions that they are written for. */
const SDK: Partial<Record<Revision, () => (name: string) => Validator | undefined>> = {
  '2025-11-25': () => {
    const schemas = load('@modelcontextprotocol/sdk/types.js') as Readonly<Record<string, Validator>>
    return (name) => schemas[`${nameInSdk(name)}Schema`]
  },
  '2026-07-28': () => {
    const { specTypeSchemas } = load('@modelcontextprotocol/client') as {
      readonly specTypeSchemas: Readonly<Record<string, Validator>>
    }
    // The SDK still has the `elicitationId` and the tasks of 2025-11-25, so only the recording decides about these.
    return (name) => (/^ElicitRequest$|Task/.test(name) ? undefined : specTypeSchemas[nameInSdk(name)])
  },
}

/** The SDKs give the result that may use tools a name of its own. */
function nameInSdk(name: string): string {
  return name === 'CreateMessageResult' ? 'CreateMessageResultWithTools' : name
}

/**
 * Adds the schemas of the official SDKs to recorded shapes. A message must satisfy both; where nothing like it was
 * recorded, the SDK alone decides.
 */
export function withSdk(recorded: Checker, revision: Revision): Checker {
  const find = SDK[revision]?.()
  if (find === undefined) return recorded
  return {
    ...recorded,
    check: (name, value, mode) => {
      const validator = find(name)
      const misfit = recorded.check(name, value, mode)
      if (validator === undefined || misfit?.kind === 'wrong') return misfit
      return complaintOf(validator, value)
    },
  }
}

function complaintOf(validator: Validator, value: unknown): Misfit | undefined {
  const [issue] = validator['~standard'].validate(withSafeId(value)).issues ?? []
  if (issue === undefined) return undefined
  return { kind: 'wrong', text: `by the official SDK, ${(issue.path ?? []).join('.')}: ${issue.message}` }
}

/** The protocol allows integer ids of any size; the SDKs refuse those that a number cannot hold exactly. */
function withSafeId(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('id' in value)) return value
  const { id } = value
  return typeof id === 'number' && Number.isInteger(id) && !Number.isSafeInteger(id)
    ? { ...value, id: 0 }
    : value
}
