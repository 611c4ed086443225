import type * as next from './2026-07-28.ts'

/** The shapes of 2025-11-25; everything not declared here is as in 2026-07-28. */

export type {
  Annotations,
  AudioContent,
  BlobResourceContents,
  BooleanField,
  CompleteRequestParams,
  CompleteResult,
  ContentBlock,
  ElicitValue,
  EmbeddedResource,
  EmptyResult,
  EnumField,
  FormField,
  FormSchema,
  GetPromptResult,
  Icon,
  ImageContent,
  Implementation,
  LoggingLevel,
  LoggingMessageNotificationParams,
  Meta,
  ModelPreferences,
  MultiSelectField,
  NotificationParams,
  NumberField,
  ObjectSchema,
  PaginatedRequestParams,
  PaginatedResult,
  ProgressNotificationParams,
  ProgressToken,
  Prompt,
  PromptArgument,
  PromptMessage,
  PromptReference,
  RequestParams,
  RequestParamsMeta,
  Resource,
  ResourceContents,
  ResourceLink,
  ResourceTemplate,
  ResourceTemplateReference,
  ResourceUpdatedNotificationParams,
  Role,
  Root,
  Settings,
  StringField,
  TextContent,
  TextResourceContents,
  TitledEnumField,
  TitledOption,
  ToolAnnotations,
  ToolUseContent,
} from './2026-07-28.ts'

// Opening

export interface InitializeRequestParams extends next.RequestParams {
  readonly protocolVersion: string
  readonly capabilities: ClientCapabilities
  readonly clientInfo: next.Implementation
}

export interface InitializeResult extends next.EmptyResult {
  readonly protocolVersion: string
  readonly capabilities: ServerCapabilities
  readonly serverInfo: next.Implementation
  readonly instructions?: string
}

export interface ClientCapabilities extends Omit<next.ClientCapabilities, 'extensions' | 'roots'> {
  readonly roots?: { readonly listChanged?: boolean }
  readonly tasks?: {
    readonly list?: next.Settings
    readonly cancel?: next.Settings
    readonly requests?: {
      readonly sampling?: { readonly createMessage?: next.Settings }
      readonly elicitation?: { readonly create?: next.Settings }
    }
  }
}

export interface ServerCapabilities extends Omit<next.ServerCapabilities, 'extensions'> {
  readonly tasks?: {
    readonly list?: next.Settings
    readonly cancel?: next.Settings
    readonly requests?: { readonly tools?: { readonly call?: next.Settings } }
  }
}

// Tools, resources, prompts

export interface Tool extends Omit<next.Tool, 'outputSchema'> {
  /** Describes `structuredContent`, which is an object at this revision. Default: the tool promises nothing. */
  readonly outputSchema?: next.ObjectSchema
  /** Whether calls may run as a task of this revision. Default: `forbidden`. Later revisions have no such tasks. */
  readonly execution?: { readonly taskSupport?: 'forbidden' | 'optional' | 'required' }
}

export type ListToolsResult = next.PaginatedResult & { readonly tools: readonly Tool[] }
export type ListResourcesResult = Omit<next.ListResourcesResult, keyof next.CacheHints>
export type ListResourceTemplatesResult = Omit<next.ListResourceTemplatesResult, keyof next.CacheHints>
export type ListPromptsResult = Omit<next.ListPromptsResult, keyof next.CacheHints>
export type ReadResourceResult = Omit<next.ReadResourceResult, keyof next.CacheHints>

type SingleRound<Params> = Omit<Params, 'inputResponses' | 'requestState'>

export type CallToolRequestParams = SingleRound<next.CallToolRequestParams> & TaskAugmented
export type ReadResourceRequestParams = SingleRound<next.ReadResourceRequestParams>
export type GetPromptRequestParams = SingleRound<next.GetPromptRequestParams>

export interface CallToolResult extends next.CallToolResult {
  /** The result as data, which matches the `outputSchema` of the tool: an object at this revision. Default: none. */
  readonly structuredContent?: Readonly<Record<string, unknown>>
}

export interface SubscribeRequestParams extends next.RequestParams {
  readonly uri: string
}

export interface SetLevelRequestParams extends next.RequestParams {
  readonly level: next.LoggingLevel
}

// Questions to the client, as separate requests

export interface ToolResultContent extends next.ToolResultContent {
  readonly structuredContent?: Readonly<Record<string, unknown>>
}

export type SamplingBlock = Exclude<next.SamplingBlock, next.ToolResultContent> | ToolResultContent

export interface SamplingMessage extends next.SamplingMessage {
  readonly content: SamplingBlock | readonly SamplingBlock[]
}

export interface CreateMessageRequestParams
  extends next.CreateMessageRequestParams, next.RequestParams, TaskAugmented {
  readonly messages: readonly SamplingMessage[]
  readonly tools?: readonly Tool[]
}

export interface CreateMessageResult extends next.CreateMessageResult {
  readonly content: SamplingBlock | readonly SamplingBlock[]
}

export interface ListRootsResult extends next.ListRootsResult, next.EmptyResult {}

export interface ElicitFormParams extends next.ElicitFormParams, next.RequestParams, TaskAugmented {}

export interface ElicitUrlParams extends next.ElicitUrlParams, next.RequestParams, TaskAugmented {
  readonly elicitationId: string
}

export type ElicitRequestParams = ElicitFormParams | ElicitUrlParams

export interface ElicitResult extends next.ElicitResult, next.EmptyResult {}

/** `error.data` of -32042. */
export interface UrlElicitationRequiredData {
  readonly elicitations: readonly ElicitUrlParams[]
}

// Tasks, experimental in this revision

export interface TaskAugmented {
  readonly task?: { readonly ttl?: number }
}

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

export interface Task {
  readonly taskId: string
  readonly status: TaskStatus
  readonly statusMessage?: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** In milliseconds; null means unlimited. */
  readonly ttl: number | null
  readonly pollInterval?: number
}

export interface TaskRequestParams extends next.RequestParams {
  readonly taskId: string
}

export interface CreateTaskResult extends next.EmptyResult {
  readonly task: Task
}

export interface TaskResult extends next.EmptyResult, Task {}

/** The result of the request that became the task. */
export interface TaskPayloadResult extends next.EmptyResult {
  readonly [key: string]: unknown
}

export interface ListTasksResult extends next.PaginatedResult {
  readonly tasks: readonly Task[]
}

// Notifications

export interface CancelledNotificationParams extends Omit<next.CancelledNotificationParams, 'requestId'> {
  readonly requestId?: next.CancelledNotificationParams['requestId']
}

export interface ElicitationCompleteNotificationParams extends next.NotificationParams {
  readonly elicitationId: string
}

export interface TaskStatusNotificationParams extends next.NotificationParams, Task {}

export interface Requests {
  initialize: { params: InitializeRequestParams; result: InitializeResult }
  ping: { params: next.RequestParams; result: next.EmptyResult }
  'tools/list': { params: next.PaginatedRequestParams; result: ListToolsResult }
  'tools/call': { params: CallToolRequestParams; result: CallToolResult | CreateTaskResult }
  'resources/list': { params: next.PaginatedRequestParams; result: ListResourcesResult }
  'resources/templates/list': { params: next.PaginatedRequestParams; result: ListResourceTemplatesResult }
  'resources/read': { params: ReadResourceRequestParams; result: ReadResourceResult }
  'resources/subscribe': { params: SubscribeRequestParams; result: next.EmptyResult }
  'resources/unsubscribe': { params: SubscribeRequestParams; result: next.EmptyResult }
  'prompts/list': { params: next.PaginatedRequestParams; result: ListPromptsResult }
  'prompts/get': { params: GetPromptRequestParams; result: next.GetPromptResult }
  'completion/complete': { params: next.CompleteRequestParams; result: next.CompleteResult }
  'logging/setLevel': { params: SetLevelRequestParams; result: next.EmptyResult }
  'sampling/createMessage': {
    params: CreateMessageRequestParams
    result: CreateMessageResult | CreateTaskResult
  }
  'roots/list': { params: next.RequestParams; result: ListRootsResult }
  'elicitation/create': { params: ElicitRequestParams; result: ElicitResult | CreateTaskResult }
  'tasks/get': { params: TaskRequestParams; result: TaskResult }
  'tasks/result': { params: TaskRequestParams; result: TaskPayloadResult }
  'tasks/list': { params: next.PaginatedRequestParams; result: ListTasksResult }
  'tasks/cancel': { params: TaskRequestParams; result: TaskResult }
}

export interface Notifications extends Omit<
  next.Notifications,
  'notifications/cancelled' | 'notifications/subscriptions/acknowledged' | 'notifications/tasks'
> {
  'notifications/initialized': next.NotificationParams
  'notifications/cancelled': CancelledNotificationParams
  'notifications/roots/list_changed': next.NotificationParams
  'notifications/elicitation/complete': ElicitationCompleteNotificationParams
  'notifications/tasks/status': TaskStatusNotificationParams
}
