export { App, createServer } from './app/app.ts'
export { defineTools } from './app/define-tools.ts'
export { MCPServer, type DecoratedMethod, type ToolRegistration } from './app/mcp-server.ts'
export type { ItemKind, ItemList } from './app/items.ts'
export type { Running } from './app/listen/listen.ts'
export type { Fetch, FetchHandler } from './app/mounts.ts'
export type { LogFunction, Logger } from './app/logger.ts'
export type {
  GistOptions,
  HttpOptions,
  ListenOptions,
  MountOptions,
  ServerOptions,
  ServerStore,
  StdioOptions,
  TcpOptions,
  UnixOptions,
  WsOptions,
} from './app/options.ts'
export { TaskDesk, type ShownTask, type TaskListOptions } from './app/task-desk.ts'
export type {
  Addition,
  AnyContext,
  Delivered,
  Middleware,
  NodeListener,
  Patch,
  Replaced,
  Returns,
  SchemaLike,
  ToolEntry,
  ToolFacts,
  ToolMap,
  ToolOptions,
  ToolResult,
  ToolSchemas,
  Typed,
} from './app/types.ts'
export type { Duration } from './base/duration.ts'
export { McpError, type ErrorExtras, type ErrorKind } from './errors/error.ts'
export { ToolError } from './errors/tool-error.ts'
export type { Cycle } from './gist/version.ts'
export type { AllowedKeys } from './keys/options.ts'
export type { Profile } from './profiles/profile.ts'
export type { ClientLimits } from './protocol/client-limits.ts'
export {
  audio,
  embed,
  image,
  link,
  text,
  type Annotations,
  type AudioContent,
  type BlockOptions,
  type ContentBlock,
  type EmbeddedResource,
  type ImageContent,
  type LinkOptions,
  type ResourceLink,
  type TextContent,
} from './protocol/content.ts'
export type { JsonObject, RequestId } from './protocol/jsonrpc.ts'
export type { Limits } from './protocol/limits.ts'
export type { LogLevel } from './protocol/log-levels.ts'
export type { ServerMethod } from './protocol/methods.ts'
export type { RefusalName } from './protocol/refusals.ts'
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
export type { Auth, ClientInfo } from './rpc/call.ts'
export type { Revoked } from './rpc/leases.ts'
export type { AuthOption } from './app/auth.ts'
export type { AuthMethod } from './transport/http/server/auth-method.ts'
export type {
  Advice,
  AnySchema,
  Carrying,
  FromJsonSchema,
  InputOf,
  JsonSchema,
  OutputOf,
  StandardIssue,
  StandardJson,
  StandardResult,
  StandardSchema,
} from './schema/schema.ts'
export type {
  AskOptions,
  Elicited,
  ElicitedUrl,
  SampleBlock,
  Sampled,
  SampleMessage,
  SampleParams,
  TaskAsk,
} from './server/ask.ts'
export type { Completer, Completions, Suggestion } from './server/completion.ts'
export type { Context, RequestClient } from './server/context.ts'
export type { Log } from './server/logging.ts'
export type { RequestSession } from './server/session-state.ts'
export type { ReportProgress } from './server/progress.ts'
export type { Hints, ItemOptions, PromptOptions } from './server/register.ts'
export type {
  ListedResource,
  Listing,
  ResourceAnnotations,
  ResourceOptions,
} from './server/register-resource.ts'
export type { ClientFeature } from './server/supports.ts'
export type { FramingName } from './transport/lines/framing-name.ts'
export type { MemoryEnd } from './transport/memory/server.ts'
export type { CertificateCaller, Pem, TlsOptions, TlsSource } from './transport/tls/options.ts'
export type { ValuesOf, VariablesOf } from './uri-template/variables.ts'
export { validateMessageSize, type SizedTransport } from './wire/message-size.ts'
export type { Interceptor, Plugin } from './app/plugin.ts'
export type { ObservedRequest, Observer, RequestEnd } from './rpc/observer.ts'
export type { VisibleItem } from './server/visibility.ts'
export type { Execution } from './transport/http/server/lifetime.ts'
export type { TrustProxy } from './transport/http/server/proxy.ts'
export type { WebHandler } from './transport/http/server/web-endpoint.ts'
export type { FetchExtras } from './transport/http/server/fetch.ts'
export type { Some } from './base/some.ts'
export type { TaskOption, TaskOptions } from './server/task-option.ts'
export type { TaskHead, TaskStatus } from './tasks/record.ts'
export type { TaskStore } from './tasks/store.ts'
