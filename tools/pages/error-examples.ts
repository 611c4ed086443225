import { toErrorObject, toRefusal } from '../../src/errors/reply.ts'
import { mcpError, type ErrorKind, type McpError } from '../../src/errors/error.ts'
import type { ErrorRow } from '../../src/errors/row.ts'
import type { ErrorObject } from '../../src/protocol/jsonrpc.ts'
import { isRetryable, type RefusalName, type RefusalRow } from '../../src/protocol/refusals.ts'
import { toLine, type Issue } from '../../src/schema/issue.ts'
import { issueExtras } from '../../src/server/argument-issue.ts'
import { ALL_ERRORS } from './errors.ts'

/** Sample facts for examples, by slot. */
const SAMPLES: Readonly<Record<string, string | number>> = {
  name: 'lookup',
  uri: 'notes://today',
  method: 'tools/call',
  id: 7,
  limit: 1024,
  ms: 5000,
  key: 'name',
  header: 'Mcp-Name',
  version: '2030-01-01',
  encoding: 'gzip',
  issue: 'city: is required',
  nearest: '; did you mean "look_up"?',
  capability: 'tools',
  revision: '2026-07-28',
  reference: '5f3c1e9a-0000-4000-8000-000000000000',
  status: 503,
  item: 'lookup',
  scopes: 'notes:read notes:write',
  missing: 'notes:write',
  target: 'http://127.0.0.1:3000/mcp',
}

/** Refusals that always come with a time to wait, by the start of their name. */
const WAITS: ReadonlySet<string> = new Set([
  'QUEUE',
  'BACKPRESSURE',
  'CONCURRENT',
  'SERVER_SHUTTING',
  'BUFFER',
])

/** The issue with an argument, by the refusal that reports it. */
const ISSUES: ReadonlyMap<string, Issue> = new Map([
  ['MISSING_REQUIRED_FIELD', { path: ['city'], problem: 'is required', got: undefined }],
  [
    'FIELD_TYPE_MISMATCH',
    { path: ['city'], problem: 'expected string, got number', expected: 'string', got: 'number' },
  ],
])

/** An error of a kind, with sample facts. */
function sample(kind: ErrorKind, name?: RefusalName): McpError {
  const { text, refusal = '' } = ALL_ERRORS[kind] as { text: string; refusal?: string }
  const slots = [...text.matchAll(/\{(\w+)\}/g)].map(([, slot = '']) => slot)
  const issue = ISSUES.get(name ?? '')
  const samples = issue === undefined ? SAMPLES : { ...SAMPLES, issue: toLine([issue]) }
  const facts = Object.fromEntries(slots.map((slot) => [slot, samples[slot] ?? 'it is invalid']))
  const waits = [...WAITS].some((start) => refusal.startsWith(start))
  return mcpError(ALL_ERRORS[kind] as ErrorRow, facts, waits ? { retryAfterMs: 1000 } : issueExtras(issue))
}

/** The error object of a kind on the wire, at the newest revision. */
export function sampleObject(kind: ErrorKind, name?: RefusalName): ErrorObject {
  return toErrorObject(sample(kind, name), undefined)
}

/** The tool result for a kind that the model reads. */
export function sampleResult(kind: ErrorKind): object {
  const error = sample(kind)
  return {
    content: [{ type: 'text', text: error.message }],
    isError: true,
    _meta: { 'dev.pierhead/refusal': toRefusal(error) },
  }
}

/** An error object that other servers may send for a refusal that ours does not. */
export function foreignObject(name: RefusalName, row: RefusalRow): ErrorObject {
  const { code, http, severity } = row
  const refusal = { code, name, httpStatus: http, severity, retryable: isRetryable(row) }
  return { code, message: name.toLowerCase().replaceAll('_', ' '), data: { refusal } }
}
