import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { InitializeRequestParams, InitializeResult } from '../protocol/spec/2025-11-25.ts'
import type {
  CacheHints,
  CallToolResult,
  ClientCapabilities,
  CompleteRequestParams,
  ContentBlock,
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  GetPromptResult,
  Implementation,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListRootsResult,
  ListToolsResult,
  ProgressNotificationParams,
  Prompt,
  PromptMessage,
  ReadResourceResult,
  Resource,
  ResourceContents,
  ResourceTemplate,
  Root,
  ServerCapabilities,
  Tool,
} from '../protocol/spec/2026-07-28.ts'

/**
 * Turns one shape into its older form. Never modifies its input; returns the same object if nothing
 * changes. `index` is the position of the value in its list.
 */
export type Step<Value> = (value: Value, index?: number) => Value

type Optional<Value> = Step<Value> | undefined

/** The shapes that clients send. */
export type ClientLowering = Pick<
  Lowering,
  'implementation' | 'clientCapabilities' | 'complete' | 'progress' | 'sampleResult' | 'root'
>

/**
 * How the shapes of a revision change for the next older one. Shapes without a rule are the same in both.
 * The types of the newest revision allow every older form too.
 */
export interface Lowering {
  /** False if clients cannot be asked to visit a URL; `elicit` then accepts only forms. */
  readonly supportsUrl?: false | undefined

  readonly implementation?: Optional<Implementation>
  readonly capabilities?: Optional<ServerCapabilities>
  readonly clientCapabilities?: Optional<ClientCapabilities>
  readonly initializeParams?: Optional<InitializeRequestParams>
  readonly initializeResult?: Optional<InitializeResult>

  readonly tool?: Optional<Tool>
  readonly resource?: Optional<Resource>
  readonly template?: Optional<ResourceTemplate>
  readonly prompt?: Optional<Prompt>
  /** Members that every list and every read may have besides its items. */
  readonly hints?: (<Value extends CacheHints>(value: Value) => Value) | undefined
  readonly toolList?: Optional<ListToolsResult>
  readonly resourceList?: Optional<ListResourcesResult>
  readonly templateList?: Optional<ListResourceTemplatesResult>
  readonly promptList?: Optional<ListPromptsResult>

  readonly content?: Optional<ContentBlock>
  readonly contents?: Optional<ResourceContents>
  readonly callResult?: Optional<CallToolResult>
  readonly readResult?: Optional<ReadResourceResult>
  /** A task, alone or in a list. */
  readonly task?: Optional<JsonObject>
  readonly taskList?: Optional<JsonObject>
  readonly promptMessage?: Optional<PromptMessage>
  readonly promptResult?: Optional<GetPromptResult>
  readonly complete?: Optional<CompleteRequestParams>
  readonly progress?: Optional<ProgressNotificationParams>

  readonly elicit?: Optional<ElicitRequestParams>
  /** The reverse: converts the answer to a lowered question into an answer to the original question. */
  readonly elicitAnswer?: ((answer: ElicitResult, asked: ElicitRequestParams) => ElicitResult) | undefined
  readonly sample?: Optional<CreateMessageRequestParams>
  readonly sampleResult?: Optional<CreateMessageResult>
  readonly root?: Optional<Root>
  readonly rootsResult?: Optional<ListRootsResult>
}
