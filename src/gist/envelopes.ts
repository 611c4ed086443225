import type { JsonObject } from '../protocol/jsonrpc.ts'

/** The reply to a handshake: both identities, the transport, and the agreed capabilities. */
export interface ConnectionDescriptor {
  /** The agreed version, as a month. */
  readonly version: string
  readonly client_id: string
  readonly server_id: string
  readonly transport: 'stdio' | 'http' | 'ws'
  readonly capabilities: readonly string[]
  /** Identifies the session in later calls. */
  readonly session: string
  /** The agreed version, in the form that the client used. */
  readonly mcp_version: string
}

/** A tool in gist form. */
export interface ToolDescriptor {
  readonly tool_id: string
  readonly name: string
  readonly description?: string | undefined
  readonly input_schema: JsonObject
  readonly output_schema?: JsonObject | undefined
}

/** The progress of a call: in percent if the tool reports a total, otherwise the steps done. */
export interface GistProgress {
  readonly percent?: number | undefined
  readonly steps?: number | undefined
}

export interface GistMetadata {
  readonly duration_ms: number
  /** Resources that the tool reported using. */
  readonly tokens_used?: number | undefined
}

export interface GistError {
  readonly code: number
  readonly message: string
  readonly refusal?: JsonObject | undefined
  readonly data?: JsonObject | undefined
}

/** The reply to a call; with `in_progress`, an update about one that is still running. */
export interface ResultEnvelope {
  /** Absent if the server could not read it. */
  readonly request_id?: string | undefined
  readonly status: 'success' | 'error' | 'in_progress'
  readonly result?: JsonObject | undefined
  readonly progress?: GistProgress | undefined
  readonly error?: GistError | undefined
  readonly metadata?: GistMetadata | undefined
  /** The background job, and the seconds to wait before polling it. */
  readonly job_id?: string | undefined
  readonly poll_after?: number | undefined
}

/** The gist capabilities supported here, and what they map to. */
export const GIST_CAPABILITIES: readonly string[] = ['stream', 'schema_ref']

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value)
}
