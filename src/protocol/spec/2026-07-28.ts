import type { RequestId } from '../jsonrpc.ts'
import type { Questions, RoundParams } from './2026-07-28-questions.ts'

export type * from './2026-07-28-envelope.ts'
export type * from './2026-07-28-questions.ts'

/*
 * The shapes of 2026-07-28, which are also the form of messages inside this package, without the envelope that
 * every request and result of this revision has on the wire.
 */

// Shared values

export type Role = 'user' | 'assistant'
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
export type CacheScope = 'public' | 'private'

/** `_meta`: keys of the protocol, of extensions and of the application. */
export interface Meta {
  readonly [key: string]: unknown
}

export interface RequestParamsMeta extends Meta {
  readonly progressToken?: ProgressToken
}

export interface RequestParams {
  readonly _meta?: RequestParamsMeta
}

export interface NotificationParams {
  readonly _meta?: Meta
}

export interface EmptyResult {
  readonly _meta?: Meta | undefined
}

export interface PaginatedRequestParams extends RequestParams {
  readonly cursor?: string
}

export interface PaginatedResult extends EmptyResult {
  readonly nextCursor?: string
}

/** How long and for whom a result may be cached. Encoding adds missing values. */
export interface CacheHints {
  readonly ttlMs?: number | undefined
  readonly cacheScope?: CacheScope | undefined
}

export interface Icon {
  /** An https: or data: URI. */
  readonly src: string
  readonly mimeType?: string | undefined
  readonly sizes?: readonly string[] | undefined
  readonly theme?: 'light' | 'dark' | undefined
}

export interface Implementation {
  readonly name: string
  readonly version: string
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
  readonly icons?: readonly Icon[]
}

export interface Annotations {
  readonly audience?: readonly Role[] | undefined
  /** From 0 (optional) to 1 (required). */
  readonly priority?: number | undefined
  readonly lastModified?: string | undefined
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

// Content

/** Members that every content block may have. */
export interface BlockOptions {
  readonly annotations?: Annotations | undefined
  readonly _meta?: Meta | undefined
}

export interface TextContent extends BlockOptions {
  readonly type: 'text'
  readonly text: string
}

export interface ImageContent extends BlockOptions {
  readonly type: 'image'
  /** Base64. */
  readonly data: string
  readonly mimeType: string
}

export interface AudioContent extends BlockOptions {
  readonly type: 'audio'
  /** Base64. */
  readonly data: string
  readonly mimeType: string
}

export interface ResourceLink extends Resource {
  readonly type: 'resource_link'
}

export interface EmbeddedResource extends BlockOptions {
  readonly type: 'resource'
  readonly resource: ResourceContents
}

export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

export interface TextResourceContents {
  readonly uri: string
  readonly mimeType?: string | undefined
  readonly text: string
  readonly _meta?: Meta | undefined
}

export interface BlobResourceContents {
  readonly uri: string
  readonly mimeType?: string | undefined
  /** Base64. */
  readonly blob: string
  readonly _meta?: Meta | undefined
}

export type ResourceContents = TextResourceContents | BlobResourceContents

// Tools

/** A JSON Schema 2020-12 whose root describes an object. */
export interface ObjectSchema {
  readonly $schema?: string | undefined
  readonly type: 'object'
  readonly [keyword: string]: unknown
}

/** A JSON Schema 2020-12 with any root. */
export interface SchemaObject {
  readonly $schema?: string | undefined
  readonly [keyword: string]: unknown
}

export interface ToolAnnotations {
  readonly title?: string | undefined
  readonly readOnlyHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
  readonly openWorldHint?: boolean | undefined
}

export interface Tool {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema: ObjectSchema
  readonly outputSchema?: SchemaObject | undefined
  readonly annotations?: ToolAnnotations | undefined
  readonly icons?: readonly Icon[] | undefined
  readonly _meta?: Meta | undefined
}

export interface ListToolsResult extends PaginatedResult, CacheHints {
  readonly tools: readonly Tool[]
}

export interface CallToolRequestParams extends RoundParams {
  readonly name: string
  readonly arguments?: Readonly<Record<string, unknown>>
}

export interface CallToolResult extends EmptyResult {
  readonly content: readonly ContentBlock[]
  /** Any JSON value. */
  readonly structuredContent?: unknown
  readonly isError?: boolean | undefined
}

// Resources

export interface Resource {
  readonly uri: string
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  /** In bytes. */
  readonly size?: number | undefined
  readonly annotations?: Annotations | undefined
  readonly icons?: readonly Icon[] | undefined
  readonly _meta?: Meta | undefined
}

export interface ResourceTemplate {
  /** An RFC 6570 template. */
  readonly uriTemplate: string
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  readonly annotations?: Annotations | undefined
  readonly icons?: readonly Icon[] | undefined
  readonly _meta?: Meta | undefined
}

export interface ListResourcesResult extends PaginatedResult, CacheHints {
  readonly resources: readonly Resource[]
}

export interface ListResourceTemplatesResult extends PaginatedResult, CacheHints {
  readonly resourceTemplates: readonly ResourceTemplate[]
}

export interface ReadResourceRequestParams extends RoundParams {
  readonly uri: string
}

export interface ReadResourceResult extends EmptyResult, CacheHints {
  readonly contents: readonly ResourceContents[]
}

// Prompts and completion

export interface PromptArgument {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly required?: boolean | undefined
}

export interface Prompt {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly arguments?: readonly PromptArgument[] | undefined
  readonly icons?: readonly Icon[] | undefined
  readonly _meta?: Meta | undefined
}

export interface PromptMessage {
  readonly role: Role
  readonly content: ContentBlock
}

export interface ListPromptsResult extends PaginatedResult, CacheHints {
  readonly prompts: readonly Prompt[]
}

export interface GetPromptRequestParams extends RoundParams {
  readonly name: string
  readonly arguments?: Readonly<Record<string, string>>
}

export interface GetPromptResult extends EmptyResult {
  readonly description?: string | undefined
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
}
