export {
  connectGist,
  type GistCallOptions,
  type GistClient,
  type GistConnectOptions,
  type GistJobOptions,
  type GistListOptions,
  type GistResumeOptions,
} from './gist/client.ts'
export type { GistJob, GistResult } from './gist/answers.ts'
export type {
  ConnectionDescriptor,
  GistError,
  GistMetadata,
  GistProgress,
  ResultEnvelope,
  ToolDescriptor,
} from './gist/envelopes.ts'
export type { Cycle } from './gist/version.ts'
export { McpError, type ErrorExtras, type ErrorKind } from './errors/error.ts'
export type { CallerHeaders } from './transport/http/client/headers.ts'
export { ToolError } from './errors/tool-error.ts'
export type { Some } from './base/some.ts'
