import { mcpError } from '../errors/error.ts'
import { BAD_PARAMS, DUPLICATE_KEY, PARSE_FAILED, TOO_DEEP } from '../errors/wire.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { VENDOR } from '../protocol/meta.ts'
import { checkStrings, type Bounds } from '../wire/bounds.ts'
import { scanParams } from '../wire/full-scan.ts'
import { checkValues } from '../wire/values.ts'
import type { HttpIn } from '../transport/http/server/parts.ts'
import { isUuid } from './envelopes.ts'
import { isVersion } from './version.ts'

/** The first envelope that a client sends. */
export interface Handshake {
  readonly kind: 'handshake'
  readonly version: string
  readonly capabilities: readonly string[]
  readonly clientId: string | undefined
}

/** A request that a server answers with a result envelope. */
export interface Asked {
  readonly kind: 'call' | 'list'
  readonly requestId: string
  readonly session: string | undefined
  /** The params of the protocol method. */
  readonly params: JsonObject
  readonly clientName: string | undefined
  /** Whether the call becomes a job. */
  readonly isJob: boolean
}

const MAX_NAME = 256
const MAX_WORDS = 64
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Reads the body of a request: one JSON value within the depth limit, without duplicate keys. */
export function readBody({ body, parsed }: HttpIn, limits: Bounds): unknown {
  const { depth: maxDepth } = limits
  if (parsed !== undefined) return parsed
  checkStrings(body, limits)
  checkValues(body, limits)
  const finding = scanParams(body, maxDepth)
  if (finding?.kind === 'deep') throw mcpError(TOO_DEEP, { limit: maxDepth })
  const value = parse(body)
  if (finding?.kind === 'duplicate') throw mcpError(DUPLICATE_KEY, { key: finding.key.slice(0, 64) })
  return value
}

/** The id of a request, if it is valid. */
export function requestIdOf(value: unknown): string | undefined {
  return isObject(value) && isUuid(value['request_id']) ? value['request_id'] : undefined
}

/** Reads an envelope; throws unless it is a handshake, a call or a list. */
export function readEnvelope(value: unknown): Handshake | Asked {
  if (!isObject(value)) throw wrong('the body is not an object')
  if ('jsonrpc' in value) throw wrong('this is a JSON-RPC message; send it to the MCP path, by default /mcp')
  if ('mcp_version' in value) return readHandshake(value)
  const { request_id: requestId, session, list } = value
  if (!isUuid(requestId)) throw wrong('request_id is not a UUID')
  if (session !== undefined && session !== null && !isUuid(session))
    throw wrong('session is not a UUID; send the one from the handshake, or none')
  const context = readContext(value['context'])
  const isJob = list === undefined && readMode(value) === 'async'
  const asked = { requestId, session: session ?? undefined, clientName: context.clientName, isJob }
  const params = list === undefined ? readCall(value) : readList(value)
  const kind = list === undefined ? 'call' : 'list'
  return { kind, ...asked, params: { ...params, ...(context.meta && { _meta: context.meta }) } }
}

function readHandshake(value: JsonObject): Handshake {
  const { mcp_version: version, capabilities = [], client_id: clientId } = value
  if (!isVersion(version)) throw wrong('mcp_version is neither a month such as "2025-11" nor a date')
  const isList = Array.isArray(capabilities) && capabilities.every((word) => typeof word === 'string')
  if (!isList || capabilities.length > MAX_WORDS)
    throw wrong(`capabilities is not a list of at most ${MAX_WORDS} words`)
  return { kind: 'handshake', version, capabilities, clientId: readName('client_id', clientId) }
}

/** Rejects calls that ask for a job of a server without tasks. */
export function noJobs(): Error {
  return wrong(
    'mode "async" needs jobs, which are not enabled here; send mode "sync" and wait for the result',
  )
}

function readMode({ mode = 'sync' }: JsonObject): 'sync' | 'async' {
  if (mode !== 'sync' && mode !== 'async') throw wrong('mode is neither "sync" nor "async"')
  return mode
}

function readCall({ tool_id: name, arguments: input }: JsonObject): JsonObject {
  if (typeof name !== 'string' || name === '') throw wrong('tool_id is not the name of a tool')
  if (input !== undefined && !isObject(input)) throw wrong('arguments is not an object')
  return { name, ...(input !== undefined && { arguments: input }) }
}

function readList({ list, cursor }: JsonObject): JsonObject {
  if (list !== 'tools') throw wrong('list is not "tools"; only tools can be listed here')
  return cursor === undefined ? {} : { cursor }
}

/** Passes on a W3C trace id as such, and others under a name of our own. */
function readContext(context: unknown): {
  readonly clientName: string | undefined
  readonly meta: JsonObject | undefined
} {
  if (context === undefined || context === null) return { clientName: undefined, meta: undefined }
  if (!isObject(context)) throw wrong('context is not an object')
  const trace = readName('context.trace_id', context['trace_id'])
  const clientName = readName('context.client_name', context['client_name'])
  if (trace === undefined) return { clientName, meta: undefined }
  return { clientName, meta: TRACEPARENT.test(trace) ? { traceparent: trace } : { [TRACE_ID]: trace } }
}

const TRACE_ID = `${VENDOR}/traceId`

function readName(where: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value === '' || value.length > MAX_NAME)
    throw wrong(`${where} is not a text of 1 to ${MAX_NAME} characters`)
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw mcpError(PARSE_FAILED, {})
  }
}

function wrong(reason: string): Error {
  return mcpError(BAD_PARAMS, { method: 'POST /gist', reason })
}
