import type { ErrorExtras } from '../protocol/errors.ts'
import { pathText, type Issue } from '../schema/issue.ts'

/** What an error about arguments says besides its text: which field, what was expected of it, and what came. */
export function issueExtras(first: Issue | undefined): ErrorExtras {
  if (first === undefined || first.path.length === 0) return {}
  const field = pathText(first.path)
  const { expected, got } = first
  const expectedType = expected === undefined ? {} : { expectedType: expected }
  if (got !== undefined)
    return { refusal: 'FIELD_TYPE_MISMATCH', data: { field, ...expectedType, type: got } }
  return 'got' in first
    ? { refusal: 'MISSING_REQUIRED_FIELD', data: { field, ...expectedType } }
    : { data: { field } }
}
