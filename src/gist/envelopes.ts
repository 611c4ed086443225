import type { JsonObject } from '../protocol/jsonrpc.ts'

/** The reply to a handshake: both identities, the transport, and the agreed capabilities. */
export interface ConnectionDescriptor {
  /** The agreed version, as a month. */
  readonly version: string
  /** The id of the client: its own, or one that the server chose. */
  readonly client_id: string
  /** The name of the server; empty if it gives none. */
  readonly server_id: string
  /** The transport of the session. */
  readonly transport: 'stdio' | 'http' | 'ws'
  /** The capabilities that both sides have, such as `stream`. */
  readonly capabilities: readonly string[]
  /** Identifies the session in later calls. */
  readonly session: string
  /** The agreed version, in the form that the client used. */
  readonly mcp_version: string
}

/** A tool in gist form. */
export interface ToolDescriptor {
  /** Identifies the tool in calls. */
  readonly tool_id: string
  /** The name of the tool for people. */
  readonly name: string
  /** Describes the tool; absent if the server sent no description. */
  readonly description?: string | undefined
  /** The JSON Schema of the arguments. */
  readonly input_schema: JsonObject
  /** The JSON Schema of the structured content; absent if there is none. */
  readonly output_schema?: JsonObject | undefined
}

/** The progress of a call: in percent if the tool reports a total, otherwise the steps done. */
export interface GistProgress {
  /** From 0 to 100. */
  readonly percent?: number | undefined
  /** The progress as the tool reports it, if it has no total. */
  readonly steps?: number | undefined
}

/** Facts about a finished call. */
export interface GistMetadata {
  /** Milliseconds that the server needed. */
  readonly duration_ms: number
  /** Resources that the tool reported using. */
  readonly tokens_used?: number | undefined
}

/** The error of a call. */
export interface GistError {
  /** The number of the error, as in JSON-RPC. */
  readonly code: number
  /** Says what is wrong. */
  readonly message: string
  /** The refusal behind the error: its `name`, `code` and more; absent if there is none. */
  readonly refusal?: JsonObject | undefined
  /** More about the error; absent if there is nothing. */
  readonly data?: JsonObject | undefined
}

/** The reply to a call; with `in_progress`, an update about one that is still running. */
export interface ResultEnvelope {
  /** Absent if the server could not read it. */
  readonly request_id?: string | undefined
  /** Whether the call succeeded, failed, or is still running. */
  readonly status: 'success' | 'error' | 'in_progress'
  /** The result in protocol form; also present if a tool reports its failure, and in updates with a text or a part of the output. */
  readonly result?: JsonObject | undefined
  /** How far the call is, in updates. */
  readonly progress?: GistProgress | undefined
  /** Why the call failed. */
  readonly error?: GistError | undefined
  /** How long the call took, once it is finished. */
  readonly metadata?: GistMetadata | undefined
  /** The background job that runs the call, if the client asked for one. */
  readonly job_id?: string | undefined
  /** The seconds to wait before asking for the job. */
  readonly poll_after?: number | undefined
}

/** The gist capabilities supported here, and what they map to. */
export const GIST_CAPABILITIES: readonly string[] = ['stream', 'schema_ref']

/** The gist capability of servers with tasks. */
export const ASYNC = 'async'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value)
}
