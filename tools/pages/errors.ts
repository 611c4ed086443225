import { allErrors } from '../../src/errors/all.ts'
import { knowErrors, McpError, type ErrorKind } from '../../src/errors/error.ts'
import { fromErrorObject } from '../../src/errors/remote.ts'
import { toErrorObject } from '../../src/errors/reply.ts'
import type { ErrorRow } from '../../src/errors/row.ts'
import * as store from '../../src/errors/store.ts'
import * as vault from '../../src/errors/vault.ts'
import * as workers from '../../src/errors/workers.ts'
import { MCP_CODES } from '../../src/profiles/erlmcp/mcp-codes.ts'
import { isRetryable, REFUSALS, type Reaction, type RefusalRow } from '../../src/protocol/refusals.ts'
import { RESERVED_REFUSALS } from '../../src/protocol/reserved-refusals.ts'
import { code, page, table } from './markdown.ts'

// Servers do without these.
knowErrors(Object.values(vault))
knowErrors(Object.values(store))
knowErrors(Object.values(workers))

/** Every error, by kind. Sorted, because the order of a module's exports depends on the loader. */
export const ALL_ERRORS: Readonly<Record<string, ErrorRow>> = Object.fromEntries(
  [...allErrors()].toSorted(([one], [other]) => (one < other ? -1 : 1)),
)

/** Every refusal, by its code. */
export const ALL_REFUSALS: Readonly<Record<string, RefusalRow>> = Object.fromEntries(
  Object.entries<RefusalRow>({ ...REFUSALS, ...RESERVED_REFUSALS }).toSorted(
    ([, one], [, other]) => one.code - other.code,
  ),
)

/** The page about errors and refusals. */
export function errorsPage(): string {
  return page(
    'Errors',
    'Every error is an `McpError`, except that `client.call` throws a `ToolError` for a tool result with `isError`: its message is the text that the model would read. The `kind` of an `McpError` is one of the names below, `code` is the number on the wire, and `hint` says what to do. Words in braces are placeholders.',
    '## Sent to the peer',
    'These end a request with a JSON-RPC error. The HTTP status applies to Streamable HTTP; 200 means that the error is an ordinary reply. A client knows only the code, the message and the data; where they do not tell the kind, it reports the one in the column "On the client", with the message of the server.',
    errorTable('wire', ['Code', 'HTTP', 'On the client'], (row) => [
      codeOf(row),
      statusOf(row),
      receivedAs(row),
    ]),
    '## Shown to the model',
    'These become a tool result with `isError`, so that the model can read them and try again.',
    errorTable('result', [], () => []),
    '## Thrown locally',
    'These are thrown to the calling code and never sent.',
    errorTable('local', [], () => []),
    '## Refusals',
    'A refusal is an expected outcome that a client can plan for. It accompanies the official code, in `error.data.refusal`, or in a tool result in `_meta["dev.pierhead/refusal"]`, as `{ code, name, httpStatus, severity, retryable, retryAfterMs? }`. On the client, `error.refusal` is its name, and `refusalOf(error)` returns the rest. Handlers may give an `McpError` any of them; those that the server itself never sends travel as `{ name, retryable }`. Each has a page with its cause, the fix and an example. Codes from 1090 on are experimental.',
    refusalTable(),
    '## Codes of profile `erlmcp`',
    'These codes are sent only with the profile; the accompanying refusal is the same.',
    codeTable(),
  )
}

function errorTable(
  where: 'wire' | NonNullable<ErrorRow['where']>,
  columns: readonly string[],
  cells: (row: ErrorRow) => readonly string[],
): string {
  const rows = Object.entries(ALL_ERRORS).filter(([, row]) => (row.where ?? 'wire') === where)
  const refusals = rows.some(([, row]) => row.refusal !== undefined)
  return table(
    ['Kind', ...columns, 'Cause', 'What to do', ...(refusals ? ['Refusal'] : [])],
    rows.map(([kind, row]) => [
      code(kind),
      ...cells(row),
      row.text,
      row.hint ?? '',
      ...(refusals ? [refusalOf(row)] : []),
    ]),
  )
}

function codeOf({ code: number, codeBefore2026, checkCode }: ErrorRow): string {
  if (checkCode !== undefined) return 'your own'
  return codeBefore2026 === undefined
    ? code(number)
    : `${code(number)}, before 2026-07-28 ${code(codeBefore2026)}`
}

/** The kind that a client makes of an error, if it is another. */
function receivedAs({ kind, checkCode }: ErrorRow): string {
  const data = kind === 'insufficient_scope' ? { scopes: [] } : undefined
  const sent = toErrorObject(
    new McpError(kind, '', { ...(data && { data }), ...(checkCode && { code: 4000 }) }),
    undefined,
  )
  const received = fromErrorObject(sent).kind
  return received === kind ? '' : code(received)
}

function statusOf({ http = 200, httpFrom2026 }: ErrorRow): string {
  return httpFrom2026 === undefined ? String(http) : `${http}, at 2026-07-28 ${httpFrom2026}`
}

function refusalOf({ refusal }: ErrorRow): string {
  return refusal === undefined ? '' : `${REFUSALS[refusal].code} ${code(refusal)}`
}

const REACTIONS: Readonly<Record<Reaction, string>> = {
  fix: 'Correct the request.',
  'back off': 'Wait, then send it again.',
  authenticate: 'Get a new token.',
  initialize: 'Open a new session.',
  reconnect: 'Connect again.',
  'give up': 'Do not try again.',
}

function refusalTable(): string {
  return table(
    ['Code', 'Name', 'HTTP', 'Severity', 'Client reaction', 'Retry', 'Kinds'],
    Object.entries(ALL_REFUSALS).map(([name, row]) => [
      `[${code(row.code)}](errors/refusal-${row.code}.md)`,
      code(name),
      String(row.http),
      row.severity,
      REACTIONS[row.reaction],
      isRetryable(row) ? 'yes' : '',
      kindsOf(name).map(code).join(', '),
    ]),
  )
}

function codeTable(): string {
  return table(
    ['Code', 'Name', 'Severity', 'Retry', 'Kinds'],
    MCP_CODES.map((row) => [
      `[${code(row.code)}](errors/mcp${row.code}.md)`,
      code(row.name),
      row.severity,
      row.retryable === true ? 'yes' : '',
      row.kinds.map(code).join(', '),
    ]),
  )
}

/** The kinds that carry a refusal. */
export function kindsOf(refusal: string): readonly ErrorKind[] {
  const kinds = Object.entries(ALL_ERRORS).filter(([, row]) => row.refusal === refusal)
  return [...(BY_CASE.get(refusal) ?? []), ...kinds.map(([kind]) => kind as ErrorKind)]
}

const ARGUMENTS: readonly ErrorKind[] = ['tool_arguments', 'tool_input', 'prompt_arguments']

/** Refusals that depend on the occurrence rather than on the kind. */
const BY_CASE: ReadonlyMap<string, readonly ErrorKind[]> = new Map([
  ['MISSING_REQUIRED_FIELD', ARGUMENTS],
  ['FIELD_TYPE_MISMATCH', ARGUMENTS],
  ['INVALID_JSON_SCHEMA', ['bad_definition']],
  ['TOOL_DUPLICATE', ['bad_definition']],
  ['PROMPT_DUPLICATE', ['bad_definition']],
])
