import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Checker } from '../schema/checker.ts'
import type { UriTemplate } from '../uri-template/parse.ts'
import type { Context } from './context.ts'

/** Any item of a server: what lists show of it, who sees it, and its place in the order. */
export interface Item {
  /** The name, URI or URI template under which it is known. */
  readonly key: string
  /** Rises with each registration; cursors name it. */
  readonly place: number
  /** What the list shows, in the newest form. */
  readonly descriptor: JsonObject
  readonly visible: ((context: Context) => boolean) | undefined
  readonly scopes: readonly string[] | undefined
}

/** What a handler of a tool may give back; the shapes are told apart in reply.ts. */
export type Returned = unknown

export interface ToolDefinition extends Item {
  readonly input: Checker
  readonly output: Checker | undefined
  readonly timeoutMs: number | undefined
  /** Throws when headers do not repeat the arguments as the input schema wants it; absent where it wants nothing. */
  readonly checkHeaders?: (input: unknown, header: (name: string) => string | undefined) => void
  run(input: unknown, context: Context): Returned
}

export interface ResourceDefinition extends Item {
  readonly mimeType: string | undefined
  read(variables: Readonly<Record<string, string | string[]>>, context: Context): unknown
}

export interface TemplateDefinition extends ResourceDefinition {
  readonly template: UriTemplate
}

export interface PromptDefinition extends Item {
  readonly args: Checker | undefined
  readonly argNames: readonly string[]
  run(args: unknown, context: Context): unknown
}
