import type { RequestId } from '../jsonrpc.ts'
import type { Icon, Meta, ResourceContents, Role } from './2026-07-28-content.ts'
import type { ContentBlock, Prompt, Resource, ResourceTemplate, Tool } from './2026-07-28-items.ts'
import type { Questions, RoundParams } from './2026-07-28-questions.ts'
import type {
  TaskNotificationParams,
  TaskRequestParams,
  TaskResult,
  UpdateTaskRequestParams,
} from './2026-07-28-tasks.ts'

export type * from './2026-07-28-content.ts'
export type * from './2026-07-28-envelope.ts'
export type * from './2026-07-28-items.ts'
export type * from './2026-07-28-questions.ts'
export type * from './2026-07-28-tasks.ts'

/*
 * The shapes of 2026-07-28, which are also the form of messages inside this package, without the envelope that
 * every request and result of this revision has on the wire.
 */

// Shared values

export type ProgressToken = string | number
export type LoggingLevel =
  | 'debug'
  | 'info'
  | 'notice'
  | 'warning'
  | 'error'
  | 'critical'
  | 'alert'
  | 'emergency'

/** Who may be served from a cache: with `private` only this caller, with `public` anyone, for example by a proxy. */
export type CacheScope = 'public' | 'private'

export interface RequestParamsMeta extends Meta {
  readonly progressToken?: ProgressToken
}

export interface RequestParams {
  readonly _meta?: RequestParamsMeta
}

export interface NotificationParams {
  readonly _meta?: Meta
}

/** The members that every result may have. */
export interface EmptyResult {
  /** Data about the result for programs rather than the model. Default: none. */
  readonly _meta?: Meta | undefined
}

export interface PaginatedRequestParams extends RequestParams {
  readonly cursor?: string
}

export interface PaginatedResult extends EmptyResult {
  readonly nextCursor?: string
}

/**
 * How long and for whom the result of a list or a read may be cached, since 2026-07-28. Our server fills in missing values and
 * omits them at older revisions.
 */
export interface CacheHints {
  /** Milliseconds that the result stays fresh, unless a change is reported earlier; 0 forbids caching. Default: the `ttl` of the server, or else 0. */
  readonly ttlMs?: number | undefined
  /** `private` if only this caller may reuse the result, `public` if a shared cache may serve it to others. Default: `private` for the results of handlers. */
  readonly cacheScope?: CacheScope | undefined
}

export interface Implementation {
  readonly name: string
  readonly version: string
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
  readonly icons?: readonly Icon[]
}

/** The settings of a capability. Its presence is the declaration; unknown keys are tolerated. */
export interface Settings {
  readonly [key: string]: unknown
}

export interface ClientCapabilities {
  readonly experimental?: Readonly<Record<string, Settings>>
  readonly extensions?: Readonly<Record<string, Settings>>
  readonly roots?: Settings
  readonly sampling?: { readonly tools?: Settings; readonly context?: Settings }
  /** An empty object means form only. */
  readonly elicitation?: { readonly form?: Settings; readonly url?: Settings }
}

export interface ServerCapabilities {
  readonly experimental?: Readonly<Record<string, Settings>>
  readonly extensions?: Readonly<Record<string, Settings>>
  readonly logging?: Settings
  readonly completions?: Settings
  readonly prompts?: { readonly listChanged?: boolean }
  readonly resources?: { readonly subscribe?: boolean; readonly listChanged?: boolean }
  readonly tools?: { readonly listChanged?: boolean }
}

// Tools

export interface ListToolsResult extends PaginatedResult, CacheHints {
  readonly tools: readonly Tool[]
}

export interface CallToolRequestParams extends RoundParams {
  readonly name: string
  readonly arguments?: Readonly<Record<string, unknown>>
}

/** The complete result of a tool: what `callRaw` returns, and what a handler may return to decide everything itself. */
export interface CallToolResult extends EmptyResult {
  /** The blocks that the model reads. With structured content, a text block repeats it as JSON for older clients. */
  readonly content: readonly ContentBlock[]
  /** The result as data, which matches the `outputSchema` of the tool: any JSON value. Since 2025-06-18, and only objects before 2026-07-28. */
  readonly structuredContent?: unknown
  /** Whether the tool failed, so that `content` tells the model why. Default: `false`. */
  readonly isError?: boolean | undefined
}

// Resources

export interface ListResourcesResult extends PaginatedResult, CacheHints {
  readonly resources: readonly Resource[]
}

export interface ListResourceTemplatesResult extends PaginatedResult, CacheHints {
  readonly resourceTemplates: readonly ResourceTemplate[]
}

export interface ReadResourceRequestParams extends RoundParams {
  readonly uri: string
}

/** The result of reading a resource. */
export interface ReadResourceResult extends EmptyResult, CacheHints {
  /** The text and bytes: usually one entry, or several if the URI stands for more than one resource. */
  readonly contents: readonly ResourceContents[]
}

// Prompts and completion

/** One message of a prompt. */
export interface PromptMessage {
  /** The speaker: `user`, or `assistant` for an example answer. */
  readonly role: Role
  /** One block; a prompt with several has several messages. */
  readonly content: ContentBlock
}

export interface ListPromptsResult extends PaginatedResult, CacheHints {
  readonly prompts: readonly Prompt[]
}

export interface GetPromptRequestParams extends RoundParams {
  readonly name: string
  readonly arguments?: Readonly<Record<string, string>>
}

/** A prompt with its arguments filled in. */
export interface GetPromptResult extends EmptyResult {
  /** Describes the prompt to people. Default: none. */
  readonly description?: string | undefined
  /** The conversation to give to the model, in order. */
  readonly messages: readonly PromptMessage[]
}

export interface PromptReference {
  readonly type: 'ref/prompt'
  readonly name: string
  readonly title?: string
}

export interface ResourceTemplateReference {
  readonly type: 'ref/resource'
  readonly uri: string
}

export interface CompleteRequestParams extends RequestParams {
  readonly ref: PromptReference | ResourceTemplateReference
  readonly argument: { readonly name: string; readonly value: string }
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> }
}

export interface CompleteResult extends EmptyResult {
  /** At most 100 values. */
  readonly completion: {
    readonly values: readonly string[]
    readonly total?: number
    readonly hasMore?: boolean
  }
}

// Discovery, subscriptions and notifications

export interface DiscoverResult extends EmptyResult, CacheHints {
  readonly supportedVersions: readonly string[]
  readonly capabilities: ServerCapabilities
  readonly instructions?: string
}

export interface SubscriptionFilter {
  readonly toolsListChanged?: boolean
  readonly promptsListChanged?: boolean
  readonly resourcesListChanged?: boolean
  readonly resourceSubscriptions?: readonly string[]
}

export interface ListenRequestParams extends RequestParams {
  readonly notifications: SubscriptionFilter
}

export interface AcknowledgedNotificationParams extends NotificationParams {
  readonly notifications: SubscriptionFilter
}

export interface CancelledNotificationParams extends NotificationParams {
  readonly requestId: RequestId
  readonly reason?: string
}

export interface ProgressNotificationParams extends NotificationParams {
  readonly progressToken: ProgressToken
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

export interface LoggingMessageNotificationParams extends NotificationParams {
  readonly level: LoggingLevel
  readonly logger?: string
  readonly data: unknown
}

export interface ResourceUpdatedNotificationParams extends NotificationParams {
  readonly uri: string
}

/** Every request. The three questions are sent only inside an `input_required` result. */
export interface Requests extends Questions {
  'server/discover': { params: RequestParams; result: DiscoverResult }
  'tools/list': { params: PaginatedRequestParams; result: ListToolsResult }
  'tools/call': { params: CallToolRequestParams; result: CallToolResult }
  'resources/list': { params: PaginatedRequestParams; result: ListResourcesResult }
  'resources/templates/list': { params: PaginatedRequestParams; result: ListResourceTemplatesResult }
  'resources/read': { params: ReadResourceRequestParams; result: ReadResourceResult }
  'prompts/list': { params: PaginatedRequestParams; result: ListPromptsResult }
  'prompts/get': { params: GetPromptRequestParams; result: GetPromptResult }
  'completion/complete': { params: CompleteRequestParams; result: CompleteResult }
  'subscriptions/listen': { params: ListenRequestParams; result: EmptyResult }
  'tasks/get': { params: TaskRequestParams; result: TaskResult }
  'tasks/update': { params: UpdateTaskRequestParams; result: EmptyResult }
  'tasks/cancel': { params: TaskRequestParams; result: EmptyResult }
}

export interface Notifications {
  'notifications/cancelled': CancelledNotificationParams
  'notifications/progress': ProgressNotificationParams
  'notifications/message': LoggingMessageNotificationParams
  'notifications/resources/list_changed': NotificationParams
  'notifications/resources/updated': ResourceUpdatedNotificationParams
  'notifications/tools/list_changed': NotificationParams
  'notifications/prompts/list_changed': NotificationParams
  'notifications/subscriptions/acknowledged': AcknowledgedNotificationParams
  'notifications/tasks': TaskNotificationParams
}
