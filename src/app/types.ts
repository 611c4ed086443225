import type { ContentBlock } from '../protocol/content.ts'
import type { Duration } from '../base/duration.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Advice, AnySchema, Carrying, InputOf, OutputOf } from '../schema/schema.ts'
import type { Context } from '../server/context.ts'
import type { ItemOptions, Hints } from '../server/register.ts'

/** A complete tool result, for handlers that build their own. */
export interface ToolResult<Value = unknown> {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: Value | undefined
  readonly isError?: boolean | undefined
  readonly _meta?: JsonObject | undefined
}

/** The description and settings of a tool, except its schemas. */
export interface ToolFacts<Ctx = Context> extends ItemOptions<Ctx> {
  readonly hints?: Hints | undefined
  readonly timeout?: Duration | undefined
}

/** The options of `app.tool`. */
export interface ToolOptions<In = unknown, Out = unknown, Ctx = Context> extends ToolFacts<Ctx> {
  readonly input?: (In & Advice<In>) | undefined
  readonly output?: (Out & Advice<Out>) | undefined
}

/** A tool in a map by name. */
export type ToolEntry<In = unknown, Out = unknown, Ctx = Context> = ToolFacts<Ctx> & {
  readonly input?: In | undefined
  readonly output?: Out | undefined
  readonly run: (input: Delivered<In>, context: Ctx) => Returns<Out>
}

/** The schemas of a tool, from which a client knows what to send and what comes back. */
export interface ToolSchemas<In = unknown, Out = unknown> {
  readonly input?: In | undefined
  readonly output?: Out | undefined
}

/** A map of tools by name, for servers with this context. */
export type ToolMap<Ctx = Context> = Readonly<Record<string, AnyTool<Ctx>>>

type AnyTool<Ctx> = ToolFacts<Ctx> & {
  readonly input?: unknown
  readonly output?: unknown
  readonly run: (input: never, context: Ctx) => unknown
}

/** The schemas that definitions accept. The compiler recognizes the first kind fastest. */
export type SchemaLike = Carrying | AnySchema

/** The input of a handler without a schema. */
type Nothing = Readonly<Record<string, never>>

/** The input of a handler: the output of its schema. */
export type Delivered<S> = S extends SchemaLike ? OutputOf<S> : Nothing

/** The options to change in an update; `undefined` removes one. */
export type Patch<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined }

/** The input of a handler in an update. Without its schema, the compiler does not know it, so the handler declares it. */
export type Replaced<S> = S extends SchemaLike ? OutputOf<S> : never

/** The return type of a handler: the input of its output schema, or any value if it has none. */
export type Returns<Out> =
  | (Out extends SchemaLike ? Soon<Now<InputOf<Out>>> : unknown)
  | Literal<Out>
  | Streamed<Literal<Out>>

type Now<Value> = Value | ToolResult<Value>
type Soon<Value> = Value | Promise<Value> | Streamed<Value>

/** A generator, sync or async. Only its return type matters. */
type Streamed<Last> = {
  next(): IteratorResult<unknown, Last> | Promise<IteratorResult<unknown, Last>>
}

/**
 * `never` once the output schema is known. Until then this type makes the compiler infer literal types for the values
 * that a handler returns, such as `'fast'` and `[1, 2]` rather than `string` and `number[]`.
 */
type Literal<Out> = [Out] extends [never] ? Written : never
type Written = '' | 0 | false | readonly [] | readonly Written[] | { readonly [name: string]: Written }

/** Wraps the handler of a request. `next` may be called once. */
export type Middleware<Ctx = Context> = (
  context: Ctx,
  next: () => Promise<JsonObject>,
) => JsonObject | Promise<JsonObject>

/** The members that `provide` may add to a context. They must not replace those that every context has. */
export type Addition = object & { readonly [Name in keyof Context]?: never }

/**
 * A request listener for `node:http` and frameworks on top of it. If a framework has read the body and does not keep it in
 * `request.body`, pass it as the third argument. Its type does not depend on Node's types.
 */
export type NodeListener = (
  request: { readonly headers: object },
  response: { readonly statusCode: number },
  body?: unknown,
) => void
