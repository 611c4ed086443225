import { copyOf } from '../base/copy-of.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { BAD_ANSWER } from '../errors/client.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { VENDOR } from '../protocol/meta.ts'
import { printable } from '../errors/printable.ts'
import { fromErrorObject } from '../errors/remote.ts'
import { ToolError } from '../errors/tool-error.ts'
import type { ConnectionDescriptor, GistMetadata, ResultEnvelope, ToolDescriptor } from './envelopes.ts'
import { isVersion } from './version.ts'

/** The result of a successful call. */
export interface GistResult extends ResultEnvelope {
  /** Always `success`: failures are thrown. */
  readonly status: 'success'
  /** The result in protocol form: content, and structured content if the tool has some. */
  readonly result: JsonObject
  /** How long the call took; 0 ms if the server does not say. */
  readonly metadata: GistMetadata
}

/** The handle of a call that runs as a job. */
export interface GistJob extends ResultEnvelope {
  /** Always `in_progress`. */
  readonly status: 'in_progress'
  /** Names the job for `resume`. */
  readonly job_id: string
  /** The seconds to wait before asking for the job; 1 if the server does not say. */
  readonly poll_after: number
}

/** Reads the descriptor from the reply to a handshake; throws the server's error if it was rejected. */
export function readDescriptor(answer: JsonObject): ConnectionDescriptor {
  if (isObject(answer['error'])) throw toError(answer as unknown as ResultEnvelope)
  const { mcp_version: agreed, session } = answer
  if (!isVersion(agreed)) throw bad('handshake', 'mcp_version is missing')
  if (typeof session !== 'string' || session === '') throw bad('handshake', 'session is missing')
  const version = answer['version'] ?? agreed
  const client = answer['client_id'] ?? ''
  const server = answer['server_id'] ?? ''
  const transport = answer['transport'] ?? 'http'
  const capabilities = answer['capabilities'] ?? []
  if (!isWords([version, client, server]) || !isTransport(transport) || !isWords(capabilities))
    throw bad('handshake', 'a member of the descriptor is of the wrong type')
  const members = { version, client_id: client, server_id: server, transport, capabilities }
  return Object.assign(copyOf(answer), members) as unknown as ConnectionDescriptor
}

/** Reads the result of a call; throws if the tool failed or the server rejected the call. */
export function readResult(answer: ResultEnvelope): GistResult {
  const { status, result, error } = answer
  if (status === 'success' && isObject(result)) {
    const part = readPart(answer as unknown as JsonObject)
    const metadata = { duration_ms: 0, ...part.metadata }
    return Object.assign(part, { status, result, metadata })
  }
  if (status === 'error' && isObject(result)) throw toToolError(result, error?.message)
  if (status === 'error') throw toError(answer)
  throw bad(
    'call',
    status === 'in_progress' ? 'it became a job, which was not requested' : 'there is no result',
  )
}

/** Reads the handle of a job; undefined if the answer is something else. */
export function readJob(answer: ResultEnvelope): GistJob | undefined {
  if (answer.status !== 'in_progress') return undefined
  const part = readPart(answer as unknown as JsonObject)
  const { job_id: id, poll_after: after = 1 } = part
  if (!isJobId(id))
    throw bad('job', `job_id is not a text of 1 to ${MAX_JOB_ID} characters that fits into a URL`)
  return Object.assign(part, { status: 'in_progress' as const, job_id: id, poll_after: after })
}

/** The most characters of the id of a job. */
const MAX_JOB_ID = 1024

/** Whether a value can be the id of a job, as a segment of a URL. There, dots lead elsewhere, and half a character cannot be escaped. */
export function isJobId(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && id.length <= MAX_JOB_ID && !/^\.{1,2}$|\p{Cs}/u.test(id)
}

/** Reads an update about a call. Members of the wrong type are left out. */
export function readPart(answer: JsonObject): ResultEnvelope {
  const part = typed(answer, ENVELOPE)
  const { progress, metadata } = part
  if (progress !== undefined) part['progress'] = typed(progress as JsonObject, PROGRESS)
  if (metadata !== undefined) part['metadata'] = typed(metadata as JsonObject, METADATA)
  return part as unknown as ResultEnvelope
}

/** Reads one page of tools. */
export function readListed(answer: ResultEnvelope): {
  readonly tools: readonly ToolDescriptor[]
  readonly next_cursor?: string | undefined
} {
  const { tools, next_cursor: cursor } = readResult(answer).result
  if (!Array.isArray(tools) || !tools.every((tool) => isObject(tool) && typeof tool['tool_id'] === 'string'))
    throw bad('list', 'a tool has no tool_id')
  return {
    tools: tools.map(toTool),
    next_cursor: typeof cursor === 'string' ? cursor : undefined,
  }
}

function toError({ error }: ResultEnvelope): McpError {
  const { code, message, refusal, data } = (isObject(error) ? error : {}) as JsonObject
  if (typeof code !== 'number' || typeof message !== 'string')
    throw bad('call', 'the error has no code or message')
  const facts = isObject(data) ? copyOf(data) : {}
  if (isObject(refusal)) facts['refusal'] = refusal
  return fromErrorObject({ code, message, ...(Object.keys(facts).length > 0 && { data: facts }) })
}

function toToolError(result: JsonObject, message: unknown): ToolError {
  const meta = result['_meta']
  const data = isObject(meta) ? meta[`${VENDOR}/data`] : undefined
  const text = typeof message === 'string' ? message : 'the tool failed'
  return new ToolError(printable(text), isObject(data) ? data : undefined, { cause: result })
}

function toTool(tool: JsonObject): ToolDescriptor {
  const known = typed(tool, TOOL)
  known['name'] ??= tool['tool_id']
  known['input_schema'] ??= { type: 'object' }
  return known as unknown as ToolDescriptor
}

type Types = Readonly<Record<string, 'string' | 'number' | 'object'>>

const ENVELOPE: Types = {
  request_id: 'string',
  result: 'object',
  progress: 'object',
  error: 'object',
  metadata: 'object',
  job_id: 'string',
  poll_after: 'number',
}
const PROGRESS: Types = { percent: 'number', steps: 'number' }
const METADATA: Types = { duration_ms: 'number', tokens_used: 'number' }
const TOOL: Types = { name: 'string', description: 'string', input_schema: 'object', output_schema: 'object' }

/** Leaves out members that do not have these types. */
function typed(value: JsonObject, types: Types): Record<string, unknown> {
  const wrong = Object.keys(types).filter((name) =>
    types[name] === 'object' ? !isObject(value[name]) : typeof value[name] !== types[name],
  )
  return copyOf(value, ...wrong)
}

function isTransport(value: unknown): boolean {
  return value === 'stdio' || value === 'http' || value === 'ws'
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string')
}

function bad(method: string, issue: string): McpError {
  return mcpError(BAD_ANSWER, { method: `the ${method}`, issue })
}
