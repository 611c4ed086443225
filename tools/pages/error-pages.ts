import { nextStep } from '../../src/client/recovery.ts'
import { McpError, type ErrorKind } from '../../src/errors/error.ts'
import { refusalRow } from '../../src/errors/refusal.ts'
import { MCP_CODES, type McpCode } from '../../src/profiles/erlmcp/mcp-codes.ts'
import { isRetryable, type RefusalName, type RefusalRow } from '../../src/protocol/refusals.ts'
import { CODE_TEXTS } from './code-texts.ts'
import { ALL_ERRORS, ALL_REFUSALS, kindsOf } from './errors.ts'
import { foreignObject, sampleObject, sampleResult } from './error-examples.ts'
import { code, page, table } from './markdown.ts'
import { REFUSAL_TEXTS } from './refusal-texts.ts'

/** One page for each refusal and for each code of profile `erlmcp`, by file name. */
export function errorPages(): ReadonlyMap<string, string> {
  return new Map([
    ...Object.entries(ALL_REFUSALS).map(
      ([name, row]) => [refusalFile(row.code), refusalPage(name as RefusalName, row)] as const,
    ),
    ...MCP_CODES.map((row) => [codeFile(row.code), codePage(row)] as const),
  ])
}

function refusalFile(number: number): string {
  return `errors/refusal-${number}.md`
}

function codeFile(number: number): string {
  return `errors/mcp${number}.md`
}

function refusalPage(name: RefusalName, row: RefusalRow): string {
  const { cause, fix } = REFUSAL_TEXTS[name]
  const facts = [
    ['HTTP status', String(row.http)],
    ['Severity', row.severity],
    ['Retryable', isRetryable(row) ? 'yes' : 'no'],
    ['What our client does', clientDoes(name)],
    ['Kinds', kindsOf(name).map(code).join(', ') || 'none'],
  ]
  const status = row.code >= 1090 ? ['This refusal is experimental.'] : []
  return page(
    `${row.code} ${name}`,
    ...status,
    `**Cause.** ${cause}`,
    `**Fix.** ${fix}`,
    table(['', ''], facts),
    ...refusalExamples(name, row),
    back('refusal'),
  )
}

function refusalExamples(name: RefusalName, row: RefusalRow): readonly string[] {
  const kinds = kindsOf(name)
  const sent = kinds.find((kind) => kind in ALL_ERRORS && ALL_ERRORS[kind]?.where === undefined)
  if (sent !== undefined) return ['On the wire:', json(sampleObject(sent, name))]
  const inResult = kinds.find((kind) => ALL_ERRORS[kind]?.where === 'result')
  if (inResult !== undefined) return ['As the model reads it:', json(sampleResult(inResult))]
  if (kinds.length > 0)
    return [
      `It is thrown in the same process, as an ${code('McpError')} whose ${code('refusal')} is ${code(name)}.`,
    ]
  return [
    'Our server does not send it yet. Our client recognises it from other servers by its name, by its number, or by its number as the code:',
    json(foreignObject(name, row)),
  ]
}

function codePage(row: McpCode): string {
  const { cause, fix, instead } = CODE_TEXTS.get(row.code) as NonNullable<ReturnType<typeof CODE_TEXTS.get>>
  const { refusal } = row
  const number = refusal === undefined ? undefined : (ALL_REFUSALS[refusal] as RefusalRow).code
  const facts = [
    ['By default', instead],
    ['Severity', row.severity],
    ['Retryable', row.retryable === true ? 'yes' : 'no'],
    ['Refusal', number === undefined ? 'none' : `[${number} ${code(String(refusal))}](refusal-${number}.md)`],
    ['What our client does', refusal === undefined ? THROWS : clientDoes(refusal)],
    ['Kinds', [...row.kinds, ...(row.alias === undefined ? [] : [row.alias])].map(code).join(', ') || 'none'],
  ]
  return page(
    `${row.code} ${row.name}`,
    'A code of profile `erlmcp`. It is sent only with that profile.',
    `**Cause.** ${cause}`,
    `**Fix.** ${fix}`,
    table(['', ''], facts),
    ...codeExamples(row),
    back('code'),
  )
}

function codeExamples({ code: number, kinds }: McpCode): readonly string[] {
  const kind = kinds.find((one) => ALL_ERRORS[one]?.where !== 'local')
  if (kind === undefined) return []
  const official =
    ALL_ERRORS[kind]?.where === 'result' ? sampleResult(kind as ErrorKind) : sampleObject(kind as ErrorKind)
  return ['By default:', json(official), 'With the profile:', json({ ...sampleObject(kind), code: number })]
}

const THROWS = 'Throws the error.'

/** What the client does about a refusal, according to its own recovery code. */
function clientDoes(name: RefusalName): string {
  const step = (repeatable: boolean): string | undefined =>
    nextStep(
      {
        error: new McpError('remote', '', { refusal: name }),
        history: { tries: 1, redirects: 0, waits: 0, done: new Set() },
        options: { repeatable },
        unsent: false,
      },
      { tries: 5, firstMs: 100, maxMs: 32_000, timeouts: false },
      true,
      () => 0,
    )?.action
  if (refusalRow(name)?.reaction === 'authenticate') return AUTHENTICATES
  const [any, safe] = [step(false), step(true)]
  if (safe === undefined) return THROWS
  const does = DOES.get(safe) as string
  return any === undefined ? `${does}, if the request is idempotent; otherwise throws the error.` : `${does}.`
}

const AUTHENTICATES =
  'With the option `auth`, gets other credentials and sends the request again, over WebSocket on a new connection; without it, throws the error.'

const DOES: ReadonlyMap<string, string> = new Map([
  ['wait', 'Waits 100 ms, 200 ms, 400 ms …, or as long as the server asks, and sends the request again'],
  ['reopen', 'Opens a new connection and sends the request again, once'],
  [
    'move',
    'Opens a new connection after a delay and sends the request again; requests on the old one may finish',
  ],
])

function json(value: object): string {
  return `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\``
}

function back(what: string): string {
  return `[All ${what}s](../errors.md)`
}
