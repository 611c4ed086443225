export {
  connectGist,
  type GistCallOptions,
  type GistClient,
  type GistConnectOptions,
} from './transport/gist/connect.ts'
export type { GistResult } from './transport/gist/answers.ts'
export type {
  ConnectionDescriptor,
  GistError,
  GistMetadata,
  GistProgress,
  ResultEnvelope,
  ToolDescriptor,
} from './transport/gist/envelopes.ts'
export type { Cycle } from './transport/gist/version.ts'
export { McpError, type ErrorKind } from './protocol/errors.ts'
export { ToolError } from './protocol/tool-error.ts'
