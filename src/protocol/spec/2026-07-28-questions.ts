import type {
  AudioContent,
  ContentBlock,
  EmptyResult,
  ImageContent,
  Meta,
  NotificationParams,
  RequestParams,
  Role,
  Settings,
  TextContent,
  Tool,
} from './2026-07-28.ts'

/** The questions that a server may ask a client at 2026-07-28, and the messages that carry them. */

// Sampling

export interface ToolUseContent {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly _meta?: Meta
}

export interface ToolResultContent {
  readonly type: 'tool_result'
  readonly toolUseId: string
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: Meta
}

export type SamplingBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent

export interface SamplingMessage {
  readonly role: Role
  readonly content: SamplingBlock | readonly SamplingBlock[]
  readonly _meta?: Meta
}

export interface ModelPreferences {
  readonly hints?: readonly { readonly name?: string }[]
  readonly costPriority?: number
  readonly speedPriority?: number
  readonly intelligencePriority?: number
}

export interface CreateMessageRequestParams {
  readonly messages: readonly SamplingMessage[]
  readonly maxTokens: number
  readonly modelPreferences?: ModelPreferences
  readonly systemPrompt?: string
  readonly includeContext?: 'none' | 'thisServer' | 'allServers'
  readonly temperature?: number
  readonly stopSequences?: readonly string[]
  readonly metadata?: Settings
  readonly tools?: readonly Tool[]
  readonly toolChoice?: { readonly mode?: 'auto' | 'required' | 'none' }
}

export interface CreateMessageResult {
  readonly role: Role
  readonly content: SamplingBlock | readonly SamplingBlock[]
  readonly model: string
  /** `endTurn`, `stopSequence`, `maxTokens`, `toolUse` or any other string. */
  readonly stopReason?: string
  readonly _meta?: Meta
}

// Roots

/** A folder or file that the client lets the server work in. */
export interface Root {
  /** A file: URI. */
  readonly uri: string
  /** The name to show to people. Default: none. */
  readonly name?: string | undefined
  /** Data about the root for programs. Default: none. Since 2025-06-18. */
  readonly _meta?: Meta | undefined
}

export interface ListRootsResult {
  readonly roots: readonly Root[]
}

// Elicitation

interface Field {
  readonly title?: string
  readonly description?: string
}

export interface StringField extends Field {
  readonly type: 'string'
  readonly minLength?: number
  readonly maxLength?: number
  readonly format?: 'email' | 'uri' | 'date' | 'date-time'
  readonly default?: string
}

export interface NumberField extends Field {
  readonly type: 'number' | 'integer'
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: number
}

export interface BooleanField extends Field {
  readonly type: 'boolean'
  readonly default?: boolean
}

export interface TitledOption {
  readonly const: string
  readonly title: string
}

/** A choice of one string. `enumNames` is the older form of titles. */
export interface EnumField extends Field {
  readonly type: 'string'
  readonly enum: readonly string[]
  readonly enumNames?: readonly string[]
  readonly default?: string
}

export interface TitledEnumField extends Field {
  readonly type: 'string'
  readonly oneOf: readonly TitledOption[]
  readonly default?: string
}

/** A choice of several strings. */
export interface MultiSelectField extends Field {
  readonly type: 'array'
  readonly items:
    | { readonly type: 'string'; readonly enum: readonly string[] }
    | { readonly anyOf: readonly TitledOption[] }
  readonly minItems?: number
  readonly maxItems?: number
  readonly default?: readonly string[]
}

export type FormField =
  | StringField
  | NumberField
  | BooleanField
  | EnumField
  | TitledEnumField
  | MultiSelectField

export interface FormSchema {
  readonly $schema?: string
  readonly type: 'object'
  readonly properties: Readonly<Record<string, FormField>>
  readonly required?: readonly string[]
}

export interface ElicitFormParams {
  readonly mode?: 'form'
  readonly message: string
  readonly requestedSchema: FormSchema
}

export interface ElicitUrlParams {
  readonly mode: 'url'
  readonly message: string
  readonly url: string
}

export type ElicitRequestParams = ElicitFormParams | ElicitUrlParams
export type ElicitValue = string | number | boolean | readonly string[]

export interface ElicitResult {
  readonly action: 'accept' | 'decline' | 'cancel'
  /** Only when a form was accepted. */
  readonly content?: Readonly<Record<string, ElicitValue>>
}

// Further rounds: results carry the server's questions, and repeated requests carry the answers

export interface Questions {
  'sampling/createMessage': { params: CreateMessageRequestParams; result: CreateMessageResult }
  'roots/list': { params: NotificationParams; result: ListRootsResult }
  'elicitation/create': { params: ElicitRequestParams; result: ElicitResult }
}

export type InputRequest =
  | { readonly method: 'sampling/createMessage'; readonly params: CreateMessageRequestParams }
  | { readonly method: 'roots/list'; readonly params?: NotificationParams }
  | { readonly method: 'elicitation/create'; readonly params: ElicitRequestParams }

export type InputResponse = CreateMessageResult | ListRootsResult | ElicitResult

export interface RoundParams extends RequestParams {
  readonly inputResponses?: Readonly<Record<string, InputResponse>>
  readonly requestState?: string
}

/** Has at least one of the two members. */
export interface InputRequiredResult extends EmptyResult {
  readonly inputRequests?: Readonly<Record<string, InputRequest>>
  readonly requestState?: string
}
