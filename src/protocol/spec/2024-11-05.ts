import type * as next from './2025-03-26.ts'

/** The shapes of 2024-11-05; everything not declared here is as in 2025-03-26. */

export type {
  Annotations,
  BlobResourceContents,
  CallToolRequestParams,
  CancelledNotificationParams,
  ClientCapabilities,
  CompleteRequestParams,
  CompleteResult,
  EmbeddedResource,
  EmptyResult,
  GetPromptRequestParams,
  ImageContent,
  Implementation,
  InitializeRequestParams,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListRootsResult,
  LoggingLevel,
  LoggingMessageNotificationParams,
  Meta,
  ModelPreferences,
  NotificationParams,
  ObjectSchema,
  PaginatedRequestParams,
  PaginatedResult,
  ProgressToken,
  Prompt,
  PromptArgument,
  PromptReference,
  ReadResourceRequestParams,
  ReadResourceResult,
  RequestParams,
  RequestParamsMeta,
  Resource,
  ResourceContents,
  ResourceTemplate,
  ResourceTemplateReference,
  ResourceUpdatedNotificationParams,
  Role,
  Root,
  SetLevelRequestParams,
  Settings,
  SubscribeRequestParams,
  TextContent,
  TextResourceContents,
} from './2025-03-26.ts'

export type ServerCapabilities = Omit<next.ServerCapabilities, 'completions'>

export interface InitializeResult extends Omit<next.InitializeResult, 'capabilities'> {
  readonly capabilities: ServerCapabilities
}

export type Tool = Omit<next.Tool, 'annotations'>
export type ContentBlock = next.TextContent | next.ImageContent | next.EmbeddedResource

export interface ListToolsResult extends next.PaginatedResult {
  readonly tools: readonly Tool[]
}

export interface CallToolResult extends next.EmptyResult {
  /** The blocks that the model reads: text, images and embedded resources. */
  readonly content: readonly ContentBlock[]
  /** Whether the tool failed, so that `content` tells the model why. Default: `false`. */
  readonly isError?: boolean
}

export interface PromptMessage {
  /** The speaker: `user`, or `assistant` for an example answer. */
  readonly role: next.Role
  /** One block: text, an image or an embedded resource. */
  readonly content: ContentBlock
}

export interface GetPromptResult extends next.EmptyResult {
  /** Describes the prompt to people. Default: none. */
  readonly description?: string
  /** The conversation to give to the model, in order. */
  readonly messages: readonly PromptMessage[]
}

export type SamplingBlock = next.TextContent | next.ImageContent

export interface SamplingMessage {
  readonly role: next.Role
  readonly content: SamplingBlock
}

export interface CreateMessageRequestParams extends Omit<next.CreateMessageRequestParams, 'messages'> {
  readonly messages: readonly SamplingMessage[]
}

export interface CreateMessageResult extends Omit<next.CreateMessageResult, 'content'> {
  readonly content: SamplingBlock
}

export type ProgressNotificationParams = Omit<next.ProgressNotificationParams, 'message'>

type Changed = 'initialize' | 'tools/list' | 'tools/call' | 'prompts/get' | 'sampling/createMessage'

export interface Requests extends Omit<next.Requests, Changed> {
  initialize: { params: next.InitializeRequestParams; result: InitializeResult }
  'tools/list': { params: next.PaginatedRequestParams; result: ListToolsResult }
  'tools/call': { params: next.CallToolRequestParams; result: CallToolResult }
  'prompts/get': { params: next.GetPromptRequestParams; result: GetPromptResult }
  'sampling/createMessage': { params: CreateMessageRequestParams; result: CreateMessageResult }
}

export interface Notifications extends Omit<next.Notifications, 'notifications/progress'> {
  'notifications/progress': ProgressNotificationParams
}
