import type * as next from './2025-11-25.ts'

/** The shapes of 2025-06-18; everything not declared here is as in 2025-11-25. */

export type {
  Annotations,
  AudioContent,
  BlobResourceContents,
  BooleanField,
  CompleteRequestParams,
  CompleteResult,
  EmbeddedResource,
  EmptyResult,
  GetPromptRequestParams,
  ImageContent,
  ListRootsResult,
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
  PromptArgument,
  PromptReference,
  ReadResourceRequestParams,
  ReadResourceResult,
  RequestParams,
  RequestParamsMeta,
  ResourceContents,
  ResourceTemplateReference,
  ResourceUpdatedNotificationParams,
  Role,
  Root,
  SetLevelRequestParams,
  Settings,
  SubscribeRequestParams,
  TextContent,
  TextResourceContents,
  ToolAnnotations,
} from './2025-11-25.ts'

export type Implementation = Pick<next.Implementation, 'name' | 'version' | 'title'>

export interface ClientCapabilities extends Omit<
  next.ClientCapabilities,
  'sampling' | 'elicitation' | 'tasks'
> {
  readonly sampling?: next.Settings
  readonly elicitation?: next.Settings
}

export type ServerCapabilities = Omit<next.ServerCapabilities, 'tasks'>

export interface InitializeRequestParams extends next.RequestParams {
  readonly protocolVersion: string
  readonly capabilities: ClientCapabilities
  readonly clientInfo: Implementation
}

export interface InitializeResult extends next.EmptyResult {
  readonly protocolVersion: string
  readonly capabilities: ServerCapabilities
  readonly serverInfo: Implementation
  readonly instructions?: string
}

export type Tool = Omit<next.Tool, 'icons' | 'execution'>
export type Resource = Omit<next.Resource, 'icons'>
export type ResourceTemplate = Omit<next.ResourceTemplate, 'icons'>
export type Prompt = Omit<next.Prompt, 'icons'>
export type ResourceLink = Omit<next.ResourceLink, 'icons'>
export type ContentBlock =
  | next.TextContent
  | next.ImageContent
  | next.AudioContent
  | ResourceLink
  | next.EmbeddedResource

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

export type CallToolRequestParams = Omit<next.CallToolRequestParams, 'task'>

export interface CallToolResult extends next.CallToolResult {
  /** The blocks that the model reads: text, images, sounds, links without icons and embedded resources. */
  readonly content: readonly ContentBlock[]
}

export interface PromptMessage {
  /** The speaker: `user`, or `assistant` for an example answer. */
  readonly role: next.Role
  /** One block: text, an image, a sound, a link without icons or an embedded resource. */
  readonly content: ContentBlock
}

export interface GetPromptResult extends next.EmptyResult {
  /** Describes the prompt to people. Default: none. */
  readonly description?: string
  /** The conversation to give to the model, in order. */
  readonly messages: readonly PromptMessage[]
}

export type SamplingBlock = next.TextContent | next.ImageContent | next.AudioContent

export interface SamplingMessage {
  readonly role: next.Role
  readonly content: SamplingBlock
}

export interface CreateMessageRequestParams extends Omit<
  next.CreateMessageRequestParams,
  'messages' | 'tools' | 'toolChoice' | 'task'
> {
  readonly messages: readonly SamplingMessage[]
}

export interface CreateMessageResult extends Omit<next.CreateMessageResult, 'content'> {
  readonly content: SamplingBlock
}

export type StringField = Omit<next.StringField, 'default'>
export type NumberField = Omit<next.NumberField, 'default'>
export type EnumField = Omit<next.EnumField, 'default'>
export type FormField = StringField | NumberField | next.BooleanField | EnumField
export type ElicitValue = string | number | boolean

export interface FormSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, FormField>>
  readonly required?: readonly string[]
}

export interface ElicitRequestParams extends next.RequestParams {
  readonly message: string
  readonly requestedSchema: FormSchema
}

export interface ElicitResult extends next.EmptyResult {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Readonly<Record<string, ElicitValue>>
}

export interface CancelledNotificationParams extends next.CancelledNotificationParams {
  readonly requestId: NonNullable<next.CancelledNotificationParams['requestId']>
}

type Changed =
  | 'initialize'
  | 'tools/list'
  | 'tools/call'
  | 'resources/list'
  | 'resources/templates/list'
  | 'prompts/list'
  | 'prompts/get'
  | 'sampling/createMessage'
  | 'elicitation/create'
type Tasks = 'tasks/get' | 'tasks/result' | 'tasks/list' | 'tasks/cancel'

export interface Requests extends Omit<next.Requests, Changed | Tasks> {
  initialize: { params: InitializeRequestParams; result: InitializeResult }
  'tools/list': { params: next.PaginatedRequestParams; result: ListToolsResult }
  'tools/call': { params: CallToolRequestParams; result: CallToolResult }
  'resources/list': { params: next.PaginatedRequestParams; result: ListResourcesResult }
  'resources/templates/list': { params: next.PaginatedRequestParams; result: ListResourceTemplatesResult }
  'prompts/list': { params: next.PaginatedRequestParams; result: ListPromptsResult }
  'prompts/get': { params: next.GetPromptRequestParams; result: GetPromptResult }
  'sampling/createMessage': { params: CreateMessageRequestParams; result: CreateMessageResult }
  'elicitation/create': { params: ElicitRequestParams; result: ElicitResult }
}

export interface Notifications extends Omit<
  next.Notifications,
  'notifications/cancelled' | 'notifications/elicitation/complete' | 'notifications/tasks/status'
> {
  'notifications/cancelled': CancelledNotificationParams
}
