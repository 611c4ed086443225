import type * as next from './2025-06-18.ts'

/** The shapes of 2025-03-26; everything not declared here is as in 2025-06-18. */

export type {
  CallToolRequestParams,
  CancelledNotificationParams,
  CompleteResult,
  EmptyResult,
  GetPromptRequestParams,
  LoggingLevel,
  LoggingMessageNotificationParams,
  Meta,
  ModelPreferences,
  NotificationParams,
  ObjectSchema,
  PaginatedRequestParams,
  PaginatedResult,
  ProgressNotificationParams,
  ProgressToken,
  ReadResourceRequestParams,
  RequestParams,
  RequestParamsMeta,
  ResourceTemplateReference,
  ResourceUpdatedNotificationParams,
  Role,
  ServerCapabilities,
  SetLevelRequestParams,
  Settings,
  SubscribeRequestParams,
  ToolAnnotations,
} from './2025-06-18.ts'

export type Implementation = Omit<next.Implementation, 'title'>
export type ClientCapabilities = Omit<next.ClientCapabilities, 'elicitation'>

export interface InitializeRequestParams extends next.RequestParams {
  readonly protocolVersion: string
  readonly capabilities: ClientCapabilities
  readonly clientInfo: Implementation
}

export interface InitializeResult extends next.EmptyResult {
  readonly protocolVersion: string
  readonly capabilities: next.ServerCapabilities
  readonly serverInfo: Implementation
  readonly instructions?: string
}

export type Annotations = Omit<next.Annotations, 'lastModified'>

type Plain<Shape> = Omit<Shape, 'annotations' | 'title' | '_meta'>
type Annotated = { readonly annotations?: Annotations }

export type Tool = Omit<next.Tool, 'title' | 'outputSchema' | '_meta'>
export type Resource = Plain<next.Resource> & Annotated
export type ResourceTemplate = Plain<next.ResourceTemplate> & Annotated
export type PromptArgument = Omit<next.PromptArgument, 'title'>

export interface Prompt extends Omit<next.Prompt, 'title' | 'arguments' | '_meta'> {
  /** The arguments to ask the user for, without titles. Default: none. */
  readonly arguments?: readonly PromptArgument[]
}

export type TextResourceContents = Omit<next.TextResourceContents, '_meta'>
export type BlobResourceContents = Omit<next.BlobResourceContents, '_meta'>
export type ResourceContents = TextResourceContents | BlobResourceContents

export type TextContent = Plain<next.TextContent> & Annotated
export type ImageContent = Plain<next.ImageContent> & Annotated
export type AudioContent = Plain<next.AudioContent> & Annotated
export type EmbeddedResource = Annotated & { readonly type: 'resource'; readonly resource: ResourceContents }
export type ContentBlock = TextContent | ImageContent | AudioContent | EmbeddedResource

export interface ListToolsResult extends next.PaginatedResult {
  readonly tools: readonly Tool[]
}

export interface ListResourcesResult extends next.PaginatedResult {
  readonly resources: readonly Resource[]
}

export interface ListResourceTemplatesResult extends next.PaginatedResult {
  readonly resourceTemplates: readonly ResourceTemplate[]
}

export interface ListPromptsResult extends next.PaginatedResult {
  readonly prompts: readonly Prompt[]
}

export interface CallToolResult extends next.EmptyResult {
  /** The blocks that the model reads: text, images, sounds and embedded resources. */
  readonly content: readonly ContentBlock[]
  /** Whether the tool failed, so that `content` tells the model why. Default: `false`. */
  readonly isError?: boolean
}

export interface ReadResourceResult extends next.EmptyResult {
  /** The text and bytes: usually one entry, or several if the URI stands for more than one resource. */
  readonly contents: readonly ResourceContents[]
}

export interface PromptMessage {
  /** The speaker: `user`, or `assistant` for an example answer. */
  readonly role: next.Role
  /** One block: text, an image, a sound or an embedded resource. */
  readonly content: ContentBlock
}

export interface GetPromptResult extends next.EmptyResult {
  /** Describes the prompt to people. Default: none. */
  readonly description?: string
  /** The conversation to give to the model, in order. */
  readonly messages: readonly PromptMessage[]
}

export type PromptReference = Omit<next.PromptReference, 'title'>

export interface CompleteRequestParams extends Omit<next.CompleteRequestParams, 'ref' | 'context'> {
  readonly ref: PromptReference | next.ResourceTemplateReference
}

export type SamplingBlock = TextContent | ImageContent | AudioContent

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

export type Root = Omit<next.Root, '_meta'>

export interface ListRootsResult extends next.EmptyResult {
  readonly roots: readonly Root[]
}

type Changed =
  | 'initialize'
  | 'tools/list'
  | 'tools/call'
  | 'resources/list'
  | 'resources/templates/list'
  | 'resources/read'
  | 'prompts/list'
  | 'prompts/get'
  | 'completion/complete'
  | 'sampling/createMessage'
  | 'roots/list'

export interface Requests extends Omit<next.Requests, Changed | 'elicitation/create'> {
  initialize: { params: InitializeRequestParams; result: InitializeResult }
  'tools/list': { params: next.PaginatedRequestParams; result: ListToolsResult }
  'tools/call': { params: next.CallToolRequestParams; result: CallToolResult }
  'resources/list': { params: next.PaginatedRequestParams; result: ListResourcesResult }
  'resources/templates/list': { params: next.PaginatedRequestParams; result: ListResourceTemplatesResult }
  'resources/read': { params: next.ReadResourceRequestParams; result: ReadResourceResult }
  'prompts/list': { params: next.PaginatedRequestParams; result: ListPromptsResult }
  'prompts/get': { params: next.GetPromptRequestParams; result: GetPromptResult }
  'completion/complete': { params: CompleteRequestParams; result: next.CompleteResult }
  'sampling/createMessage': { params: CreateMessageRequestParams; result: CreateMessageResult }
  'roots/list': { params: next.RequestParams; result: ListRootsResult }
}

export type { Notifications } from './2025-06-18.ts'
