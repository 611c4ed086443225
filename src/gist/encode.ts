import { copyWithout } from '../base/stored-member.ts'
import { toErrorObject, toRefusal, toStatus } from '../errors/reply.ts'
import { mcpError, type McpError } from '../errors/error.ts'
import { TASK_CANCELLED } from '../errors/tasks.ts'
import { isObject, type ErrorObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { VENDOR } from '../protocol/meta.ts'
import { LATEST } from '../protocol/revisions.ts'
import { DIALECTS, type Dialect } from '../protocol/switches.ts'
import { CachedText } from '../wire/reply.ts'
import { encodeResult } from '../wire/encode.ts'
import type { GistError, GistProgress, ToolDescriptor } from './envelopes.ts'

/** The `_meta` key under which a handler reports what it used. */
const TOKENS = `${VENDOR}/tokens`

/** The code for a tool that failed without a refusal. */
const TOOL_FAILED = -32000

/** The member that an envelope begins with. */
export type EnvelopeHead = { readonly request_id: string } | { readonly job_id: string }

/** Encodes a tool's result for a dialect. A failure is included twice, for programs and for models. */
export function encodeCallResult(
  head: EnvelopeHead,
  result: JsonObject,
  { dialect, info, ms }: { readonly dialect: Dialect; readonly info: JsonObject; readonly ms: number },
): string {
  const sealed = encodeResult('tools/call', result, dialect, info)
  const text = sealed instanceof CachedText ? sealed.text : sealed
  const meta = result['_meta']
  const tokens = isObject(meta) ? meta[TOKENS] : undefined
  const used = Number.isFinite(tokens) && (tokens as number) >= 0 ? { tokens_used: tokens } : {}
  const metadata = JSON.stringify({ duration_ms: toMs(ms), ...used })
  const failed = result['isError'] === true
  const error = failed ? `"error":${JSON.stringify(toToolError(result))},` : ''
  const status = failed ? 'error' : 'success'
  const first = JSON.stringify(head).slice(1, -1)
  return `{${first},"status":"${status}","result":${text},${error}"metadata":${metadata}}`
}

function toToolError({ content, _meta }: JsonObject): GistError {
  const blocks = (content ?? []) as readonly { readonly type?: unknown; readonly text?: unknown }[]
  const first = blocks.find(({ type, text }) => type === 'text' && typeof text === 'string')?.text
  const refusal = isObject(_meta) ? _meta[`${VENDOR}/refusal`] : undefined
  const message = typeof first === 'string' ? first : 'the tool failed'
  if (!isObject(refusal)) return { code: TOOL_FAILED, message }
  return { code: typeof refusal['code'] === 'number' ? refusal['code'] : TOOL_FAILED, message, refusal }
}

/** Encoded pages by result object: a page stays the same object until it changes. */
const lists = new WeakMap<JsonObject, string>()

/** Encodes a page of tools as descriptors. */
export function encodeToolList(id: string, result: JsonObject, ms: number): string {
  let text = lists.get(result)
  if (text === undefined) lists.set(result, (text = toListText(result)))
  const metadata = JSON.stringify({ duration_ms: toMs(ms) })
  return `{"request_id":"${id}","status":"success","result":${text},"metadata":${metadata}}`
}

function toListText({ tools, nextCursor }: JsonObject): string {
  const descriptors = (tools as readonly JsonObject[]).map(toDescriptor)
  return JSON.stringify({
    tools: descriptors,
    ...(nextCursor !== undefined && { next_cursor: nextCursor }),
  })
}

function toDescriptor(tool: JsonObject): ToolDescriptor {
  const { name, title, description, inputSchema, outputSchema } = tool
  return {
    tool_id: name as string,
    name: (title ?? name) as string,
    ...(description !== undefined && { description: description as string }),
    input_schema: inputSchema as JsonObject,
    ...(outputSchema !== undefined && { output_schema: outputSchema as JsonObject }),
  }
}

/** Encodes the progress of a call from a protocol notification. */
export function encodeProgress(id: string, { progress, total, message }: JsonObject): string {
  return JSON.stringify({
    request_id: id,
    status: 'in_progress',
    progress: toProgress(progress as number, total),
    ...(typeof message === 'string' && toText(message)),
  })
}

function toProgress(done: number, total: unknown): GistProgress {
  if (typeof total !== 'number' || !(total > 0)) return { steps: done }
  return { percent: Math.min(100, Math.max(0, Math.round((done / total) * 1000) / 10)) }
}

/** Encodes an error. Data that cannot be serialized is omitted, because the error must always be sent. */
export function encodeFailure(id: string | undefined, thrown: McpError, ms: number): string {
  return encodeError({ request_id: id ?? null }, toErrorObject(thrown, DIALECTS[LATEST]), ms)
}

function encodeError(head: JsonObject, { code, message, data }: ErrorObject, ms: number): string {
  const { refusal, ...rest } = isObject(data) ? data : {}
  const metadata = { duration_ms: toMs(ms) }
  const envelope = (error: object): string => JSON.stringify({ ...head, status: 'error', error, metadata })
  const error = { code, message, ...(refusal !== undefined && { refusal }) }
  if (Object.keys(rest).length === 0) return envelope(error)
  try {
    return envelope({ ...error, data: rest })
  } catch {
    return envelope(error)
  }
}

/** Encodes the handle of a job. */
export function encodeJobHandle(id: string, { taskId, pollIntervalMs }: JsonObject): string {
  return JSON.stringify({
    request_id: id,
    status: 'in_progress',
    job_id: taskId,
    poll_after: toSeconds(pollIntervalMs),
  })
}

/** Encodes a task, as `tasks/get` describes it at 2026-07-28, as a job: its outcome, or when to ask again. */
export function encodeJob(task: JsonObject, info: JsonObject): string {
  const { taskId, status, statusMessage, result, error } = task
  const head = { job_id: taskId as string }
  const ms = Date.parse(task['lastUpdatedAt'] as string) - Date.parse(task['createdAt'] as string)
  if (isObject(result)) {
    // The form of a job has no such member.
    return encodeCallResult(head, copyWithout(result, 'resultType'), { dialect: JOB_DIALECT, info, ms })
  }
  if (isObject(error)) return encodeError(head, error as unknown as ErrorObject, ms)
  if (status === 'cancelled')
    return encodeError(head, toErrorObject(mcpError(TASK_CANCELLED, {}), DIALECTS[LATEST]), ms)
  return JSON.stringify({
    ...head,
    status: 'in_progress',
    poll_after: toSeconds(task['pollIntervalMs']),
    ...(typeof statusMessage === 'string' && toText(statusMessage)),
  })
}

/** Whoever asks for a job may not be who started it, so all get the newest form that the gist has. */
const JOB_DIALECT: Dialect = DIALECTS['2025-11-25']

function toSeconds(ms: unknown): number {
  return (ms as number) / 1000
}

function toText(text: string): JsonObject {
  return { result: { content: [{ type: 'text', text }] } }
}

/** The HTTP status of an error, which is never 200 here. */
export function statusOf(error: McpError): number {
  const status = toStatus(error, DIALECTS[LATEST])
  if (status !== 200) return status
  const refused = toRefusal(error)?.['httpStatus']
  return typeof refused === 'number' ? refused : 400
}

function toMs(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
