import type { ContentBlock } from '../protocol/content.ts'
import type { Duration } from '../base/duration.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Advice, AnySchema, Carrying, InputOf, OutputOf } from '../schema/schema.ts'
import type { Context } from '../server/context.ts'
import type { ItemOptions, Hints } from '../server/register.ts'
import type { TaskOption } from '../server/task-option.ts'

/**
 * A complete tool result, for handlers that build their own.
 *
 * @example
 * return { content: [text('3 orders'), link('orders://open', { name: 'open' })], structuredContent: { count: 3 } }
 */
export interface ToolResult<Value = unknown> {
  /** The content for the model, from `text`, `image`, `audio`, `link` and `embed`. */
  readonly content: readonly ContentBlock[]
  /** The result as data. It is checked if the tool has an output schema, which then requires it. Default: none. */
  readonly structuredContent?: Value | undefined
  /** Whether the result reports a failure to the model. It is easier to throw a `ToolError`. Default: `false`. */
  readonly isError?: boolean | undefined
  /** Data for programs, which the model does not see. Keys are `name` or `example.com/name`. Default: none. */
  readonly _meta?: JsonObject | undefined
}

/** The description and settings of a tool, except its schemas. */
export interface ToolFacts<Ctx = Context> extends ItemOptions<Ctx> {
  /**
   * What the tool does to its surroundings, for clients that ask the user before they call it. Default: no hints, so
   * clients assume the worst: that it may destroy something.
   *
   * @example
   * hints: { readOnly: true, openWorld: false }
   */
  readonly hints?: Hints | undefined
  /**
   * The longest that the handler may run, such as `'20s'`. Then `ctx.signal` aborts, and the model gets an error result.
   * Default: no timeout.
   */
  readonly timeout?: Duration | undefined
}

/**
 * The options of `app.tool`.
 *
 * @example
 * app.tool('add', { description: 'Adds two numbers', input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => a + b)
 */
export interface ToolOptions<In = unknown, Out = unknown, Ctx = Context> extends ToolFacts<Ctx> {
  /**
   * Whether calls may become tasks, which outlive their request: `'optional'`, `'required'`, or how in detail. Default: they never do.
   *
   * @example
   * app.tool('render', { input, task: { ttl: '1h', retries: 3 } }, async ({ film }, ctx) => …)
   */
  readonly task?: TaskOption<Delivered<In>, Ctx> | undefined
  /**
   * The schema of the arguments, an object: of zod, arktype or any other library with Standard JSON Schema, or plain JSON
   * Schema. Arguments that do not match it never reach the handler. Default: the tool takes no arguments.
   */
  readonly input?: (In & Advice<In>) | undefined
  /**
   * The schema of what the handler returns, which clients get as `structuredContent`, and as JSON text. A value that does not
   * match it is an error of the tool. Default: none, so text and content are sent as they are, and other values as JSON text.
   */
  readonly output?: (Out & Advice<Out>) | undefined
}

/** A tool in a map by name. */
export type ToolEntry<In = unknown, Out = unknown, Ctx = Context> = ToolFacts<Ctx> & {
  /** The schema of the arguments. Default: the tool takes none. */
  readonly input?: In | undefined
  /** The schema of what `run` returns. Default: none, so any value may be returned. */
  readonly output?: Out | undefined
  /** Whether calls may become tasks: `'optional'`, `'required'`, or how in detail. Default: they never do. */
  readonly task?: TaskOption<Delivered<In>, Ctx> | undefined
  /** The handler: gets the checked arguments and the context of the request. It may be async or a generator. */
  readonly run: (input: Delivered<In>, context: Ctx) => Returns<Out>
}

/** The schemas of a tool, from which a client knows what to send and what comes back. */
export interface ToolSchemas<In = unknown, Out = unknown> {
  /** The schema of the arguments; absent if the tool takes none. */
  readonly input?: In | undefined
  /** The schema of the result; absent if the tool has none, so that the result is `unknown`. */
  readonly output?: Out | undefined
}

/** A map of tools by name, for servers with this context. */
export type ToolMap<Ctx = Context> = Readonly<Record<string, AnyTool<Ctx>>>

type AnyTool<Ctx> = ToolFacts<Ctx> & {
  /** The schema of the arguments. Default: the tool takes none. */
  readonly input?: unknown
  /** The schema of what `run` returns. Default: none, so any value may be returned. */
  readonly output?: unknown
  /** Whether calls may become tasks: `'optional'`, `'required'`, or how in detail. Default: they never do. */
  readonly task?: TaskOption<never, Ctx> | undefined
  /** The handler: gets the checked arguments and the context of the request. It may be async or a generator. */
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
  /** Yields a piece of the output, or returns the result. */
  next(): IteratorResult<unknown, Last> | Promise<IteratorResult<unknown, Last>>
}

/**
 * `never` once the output schema is known. Until then this type makes the compiler infer literal types for the values
 * that a handler returns, such as `'fast'` and `[1, 2]` rather than `string` and `number[]`.
 */
type Literal<Out> = [Out] extends [never] ? Written : never
type Written = '' | 0 | false | readonly [] | readonly Written[] | { readonly [name: string]: Written }

/**
 * Wraps the handler of a request. It returns the result of `next`, which may be called once, or another one.
 *
 * @example
 * app.use('tools/call', async (ctx, next) => {
 *   const began = performance.now()
 *   const result = await next()
 *   console.error(ctx.method, performance.now() - began)
 *   return result
 * })
 */
export type Middleware<Ctx = Context> = (
  context: Ctx,
  next: () => Promise<JsonObject>,
) => JsonObject | Promise<JsonObject>

/** The context of any request. Those of the connection itself, such as the handshake, lack what `provide` adds. */
export type AnyContext<Ctx = Context> = Context & {
  readonly [Name in Exclude<keyof Ctx, keyof Context>]?: Ctx[Name] | undefined
}

/** The members that `provide` may add to a context. They must not replace those that every context has. */
export type Addition = object & { readonly [Name in keyof Context]?: never }

/**
 * A request listener for `node:http` and frameworks on top of it. If a framework has read the body and does not keep it in
 * `request.body`, pass it as the third argument. Its type does not depend on Node's types.
 */
export type NodeListener = (
  request: {
    /** Those of an `IncomingMessage`. */
    readonly headers: object
  },
  response: {
    /** That of a `ServerResponse`. */
    readonly statusCode: number
  },
  body?: unknown,
) => void

/**
 * A server of which only the tools matter. If `tool` took them from the type parameter of its class, the compiler would
 * resolve its signature again for each tool of a chain, at ten times the cost.
 */
export type Typed<Tools> = {
  /** Does not exist. It carries the types of the tools. */
  '~tools'?(tools: Tools): void
}
