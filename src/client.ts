export { connect, createClient, type ConnectOptions } from './app/connect/connect.ts'
export { connectAll, Group, type Grouped, type GroupOptions, type OfServer } from './app/connect/group.ts'
export type { Duration } from './base/duration.ts'
export type { Answers, FormAnswer, FormQuestion, UrlQuestion } from './client/answers.ts'
export { Client } from './client/client.ts'
export type { DeclaredExtension } from './client/declared.ts'
export type { ClientEvents, State } from './client/events.ts'
export type { ItemList } from './client/item-list.ts'
export type {
  CallOptions,
  ClientMiddleware,
  ClientPlugin,
  ClientRequest,
  Progress,
} from './client/options.ts'
export type { RecoveryOptions } from './client/recovery-options.ts'
export type { ServerAbout } from './client/settings.ts'
export type {
  StartOptions,
  TaskHandle,
  TaskProgress,
  TaskReport,
  TaskStatus,
  WaitOptions,
} from './client/task-handle.ts'
export type { Config, CommandTarget, LocalServer, Target, UrlTarget } from './client/target.ts'
export type {
  AnyTools,
  CallArguments,
  Described,
  InputOfTool,
  OutputOfTool,
  ToolName,
  ToolsOf,
  TypedClient,
} from './client/typed.ts'
export type { Change, SubscribeOptions, Watched } from './client/watched.ts'
export { McpError, type ErrorExtras, type ErrorKind } from './errors/error.ts'
export { refusalOf, type Refusal } from './errors/refusal.ts'
export { ToolError } from './errors/tool-error.ts'
export type { ClientKeys, KeyPair } from './rpc/client-keys.ts'
export type { ClientLimits } from './protocol/client-limits.ts'
export type {
  Annotations,
  AudioContent,
  BlockOptions,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceLink,
  TextContent,
} from './protocol/content.ts'
export type { JsonObject } from './protocol/jsonrpc.ts'
export type { ClientMethod, ServerMethod } from './protocol/methods.ts'
export type { Reaction, RefusalName, Severity } from './protocol/refusals.ts'
export type { Revision } from './protocol/revisions.ts'
export type {
  BlobResourceContents,
  CacheHints,
  CacheScope,
  CallToolResult,
  EmptyResult,
  GetPromptResult,
  Icon,
  Meta,
  ObjectSchema,
  Prompt,
  PromptArgument,
  PromptMessage,
  ReadResourceResult,
  Resource,
  ResourceContents,
  ResourceTemplate,
  Role,
  Root,
  SchemaObject,
  TextResourceContents,
  Tool,
  ToolAnnotations,
} from './protocol/spec/2026-07-28.ts'
export type { ToolInput, ToolOutput } from './schema/typed-tools.ts'
export type { AuthReply, AuthRequest, AuthServer, Authorization, ClientAuth } from './rpc/client-auth.ts'
export type { HeaderRecord } from './transport/http/client/headers.ts'
export type { ClientTls, Pem } from './transport/tls/options.ts'
export type { Some } from './base/some.ts'
