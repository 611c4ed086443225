import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Checker } from '../schema/checker.ts'
import type { TaskPlan } from '../tasks/plan.ts'
import type { UriTemplate } from '../uri-template/parse.ts'
import type { Context } from './context.ts'

/** Any item of a server: its entry in lists, its visibility, and its position. */
export interface Item {
  /** Its name, URI or URI template. */
  readonly key: string
  /** Increases with each registration; cursors refer to it. */
  readonly place: number
  /** Its entry in the list, in the newest form. */
  readonly descriptor: JsonObject
  readonly visible: ((context: Context) => boolean) | undefined
  /** Whether it exists now, for anybody. Absent if it always does. */
  readonly isThere?: () => boolean
  readonly scopes: readonly string[] | undefined
  /** The options it was registered with, which an update changes. */
  readonly spec: object
}

/** The values that the handler of a tool may return; reply.ts distinguishes their shapes. */
export type Returned = unknown

export interface ToolDefinition extends Item {
  readonly input: Checker
  readonly output: Checker | undefined
  readonly timeoutMs: number | undefined
  /** How its calls become tasks; undefined if they never do. */
  readonly task: TaskPlan | undefined
  /** Throws if headers do not repeat the arguments that the input schema marks; absent if it marks none. */
  readonly checkHeaders?: (input: unknown, header: (name: string) => string | undefined) => void
  run(input: unknown, context: Context): Returned
}

export interface ResourceDefinition extends Item {
  readonly mimeType: string | undefined
  read(variables: Readonly<Record<string, string | string[]>>, context: Context): unknown
}

export interface TemplateDefinition extends ResourceDefinition {
  readonly template: UriTemplate
  /** Lists its resources; register.ts says in which form. */
  readonly list: ((context: Context) => unknown) | undefined
}

export interface PromptDefinition extends Item {
  readonly args: Checker | undefined
  readonly argNames: readonly string[]
  run(args: unknown, context: Context): unknown
}
