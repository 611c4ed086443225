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
 * Turns one shape into its older form. Never changes its input; gives back the same object when nothing
 * differs. `index` is the place of the value in the list that holds it.
 */
export type Step<Value> = (value: Value, index?: number) => Value

type Optional<Value> = Step<Value> | undefined

/**
 * How the shapes of a newer revision become those of an older one. What is absent is the same in both.
 * An older form is always one that the types of the newest revision admit too.
 */
export interface Lowering {
  /** False where a client cannot be sent to a URL; `elicit` then takes forms only. */
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
  /** What every list and every read may carry besides its items. */
  readonly hints?: (<Value extends CacheHints>(value: Value) => Value) | undefined
  readonly toolList?: Optional<ListToolsResult>
  readonly resourceList?: Optional<ListResourcesResult>
  readonly templateList?: Optional<ListResourceTemplatesResult>
  readonly promptList?: Optional<ListPromptsResult>

  readonly content?: Optional<ContentBlock>
  readonly contents?: Optional<ResourceContents>
  readonly callResult?: Optional<CallToolResult>
  readonly readResult?: Optional<ReadResourceResult>
  readonly promptMessage?: Optional<PromptMessage>
  readonly promptResult?: Optional<GetPromptResult>
  readonly complete?: Optional<CompleteRequestParams>
  readonly progress?: Optional<ProgressNotificationParams>

  readonly elicit?: Optional<ElicitRequestParams>
  /** The other way: the answer to a lowered question, as an answer to the question that was asked. */
  readonly elicitAnswer?: ((answer: ElicitResult, asked: ElicitRequestParams) => ElicitResult) | undefined
  readonly sample?: Optional<CreateMessageRequestParams>
  readonly sampleResult?: Optional<CreateMessageResult>
  readonly root?: Optional<Root>
  readonly rootsResult?: Optional<ListRootsResult>
}
