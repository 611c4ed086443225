import type { ContentBlock } from '../protocol/content.ts'
import type { Duration } from '../base/duration.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { AnySchema, Carrying, InputOf, OutputOf } from '../schema/schema.ts'
import type { Context } from '../server/context.ts'
import type { ItemOptions, Hints } from '../server/register.ts'

/** A whole tool result, for handlers that want to say everything themselves. */
export interface ToolResult<Value = unknown> {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: Value
  readonly isError?: boolean
  readonly _meta?: JsonObject
}

/** What a tool says about itself, besides its schemas. */
export interface ToolFacts<Ctx = Context> extends ItemOptions<Ctx> {
  readonly hints?: Hints
  readonly timeout?: Duration
}

/** What `app.tool` takes besides a name and a handler. */
export interface ToolOptions<In = unknown, Out = unknown, Ctx = Context> extends ToolFacts<Ctx> {
  readonly input?: In
  readonly output?: Out
}

/** A tool of a flat map. */
export type ToolEntry<In = unknown, Out = unknown, Ctx = Context> = ToolFacts<Ctx> & {
  readonly input?: In
  readonly output?: Out
  readonly run: (input: Delivered<In>, context: Ctx) => Returns<Out>
}

/** Any flat map of tools that a server with such a context can run. */
export type ToolMap<Ctx = Context> = Readonly<Record<string, AnyTool<Ctx>>>

type AnyTool<Ctx> = ToolFacts<Ctx> & {
  readonly input?: unknown
  readonly output?: unknown
  readonly run: (input: never, context: Ctx) => unknown
}

/** What a definition may give as a schema. The first is the cheapest for the compiler to tell. */
export type SchemaLike = Carrying | AnySchema

/** Where there is no schema, there is nothing in it. */
type Nothing = Readonly<Record<string, never>>

/** What a handler is given: the value as its schema delivers it. */
export type Delivered<S> = S extends SchemaLike ? OutputOf<S> : Nothing

/** What a handler may return: what its output schema takes, or without one anything that can be shown. */
export type Returns<Out> =
  | (Out extends SchemaLike ? Soon<Now<InputOf<Out>>> : unknown)
  | Literal<Out>
  | Streamed<Literal<Out>>

type Now<Value> = Value | ToolResult<Value>
type Soon<Value> = Value | Promise<Value> | Streamed<Value>

/** A generator, sync or async, as far as its last word goes. */
type Streamed<Last> = {
  next(): IteratorResult<unknown, Last> | Promise<IteratorResult<unknown, Last>>
}

/**
 * Nothing, once the output schema is known. Until then the compiler takes it for what a handler is about to return, and
 * so keeps `'fast'` and `[1, 2]` as they are written instead of making them a mere string and a mere list.
 */
type Literal<Out> = [Out] extends [never] ? Written : never
type Written = '' | 0 | false | readonly [] | readonly Written[] | { readonly [name: string]: Written }

/** Wraps the handler of a request. `next` may be called once. */
export type Middleware<Ctx = Context> = (
  context: Ctx,
  next: () => Promise<JsonObject>,
) => JsonObject | Promise<JsonObject>

/** What `provide` may add to a context: anything but what every context has. */
export type Addition = object & { readonly [Name in keyof Context]?: never }

/** Answers what Node's own HTTP server, or a framework over it, was asked. Named by what it needs, not by Node's types. */
export type NodeListener = (
  request: { readonly headers: object },
  response: { readonly statusCode: number },
) => void
