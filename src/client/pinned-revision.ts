import { untrustedText } from '../base/untrusted-text.ts'
import { McpError } from '../errors/error.ts'
import { unbroken } from '../errors/printable.ts'
import type { Revision } from '../protocol/revisions.ts'

/** Errors with which servers reject a revision; those before 2026-07-28 do not know the method that asks for it. */
const REJECTIONS: ReadonlySet<string> = new Set([
  'revision_unsupported',
  'version_rejected',
  'unknown_method',
  'no_revision',
])

/** The error for a server that lacks the only revision that the client accepts; other errors unchanged. */
export function explain(error: unknown, revision: Revision): unknown {
  if (!(error instanceof McpError) || !REJECTIONS.has(error.kind)) return error
  const supported = error.data?.['supported']
  const offered = Array.isArray(supported)
    ? ` (it offers ${unbroken(supported.slice(0, 9).map(untrustedText).join(', ').slice(0, 128))})`
    : ''
  const problem = `the server does not offer ${revision}, the only revision that this client accepts${offered}`
  const remedy = 'leave out the option revision to use one that both have'
  const { kind, code, data } = error
  return new McpError(kind, `${problem}; ${remedy}`, { code, cause: error, data })
}
