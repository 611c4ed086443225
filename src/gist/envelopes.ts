import type { JsonObject } from '../protocol/jsonrpc.ts'

/** What a server says when a client opens: who is connected with whom, over what, and what both can do. */
export interface ConnectionDescriptor {
  /** The version agreed on, as a month. */
  readonly version: string
  readonly client_id: string
  readonly server_id: string
  readonly transport: 'stdio' | 'http' | 'ws'
  readonly capabilities: readonly string[]
  /** Names the session in later calls. */
  readonly session: string
  /** The version agreed on, in the form that the client used. */
  readonly mcp_version: string
}

/** A tool in the names of the gist. */
export interface ToolDescriptor {
  readonly tool_id: string
  readonly name: string
  readonly description?: string
  readonly input_schema: JsonObject
  readonly output_schema?: JsonObject
}

/** How far a call has come: in percent where the tool says how much there is to do, else the steps done. */
export interface GistProgress {
  readonly percent?: number
  readonly steps?: number
}

export interface GistMetadata {
  readonly duration_ms: number
  /** What the tool said that it used. */
  readonly tokens_used?: number
}

export interface GistError {
  readonly code: number
  readonly message: string
  readonly refusal?: JsonObject
  readonly data?: JsonObject
}

/** The answer to a call; with `in_progress`, a part of one that still runs. */
export interface ResultEnvelope {
  /** Absent where the server could not read it. */
  readonly request_id?: string
  readonly status: 'success' | 'error' | 'in_progress'
  readonly result?: JsonObject
  readonly progress?: GistProgress
  readonly error?: GistError
  readonly metadata?: GistMetadata
  /** The job that goes on by itself, and the seconds after which to ask for it. */
  readonly job_id?: string
  readonly poll_after?: number
}

/** What the words of the gist's capabilities stand for here; others cannot be agreed on. */
export const GIST_CAPABILITIES: readonly string[] = ['stream', 'schema_ref']

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
