import type { ContentBlock } from './protocol/content.ts'
import type { JsonObject } from './protocol/jsonrpc.ts'
import type { AnySchema, InputOf, OutputOf } from './schema/schema.ts'
import type { Context } from './server/context.ts'
import type { Described, Hints } from './server/register.ts'
import type { Duration } from './protocol/duration.ts'

/** A whole tool result, for handlers that want to say everything themselves. */
export interface ToolResult {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: JsonObject
}

type Now<Value> = Value | ToolResult
type Soon<Value> = Now<Value> | Promise<Now<Value>>
type Streamed<Value> = Generator<unknown, Now<Value>> | AsyncGenerator<unknown, Now<Value>>

/** What a handler may return: what its output schema takes, or without one anything that can be shown. */
export type Returns<Out> = unknown extends Out ? unknown : Soon<Out> | Streamed<Out>

export interface ToolOptions<In, Out, Ctx> extends Described<Ctx> {
  readonly input?: In
  readonly output?: Out
  readonly hints?: Hints
  readonly timeout?: Duration
}

export type InputFor<In> = In extends AnySchema ? OutputOf<In> : Readonly<Record<string, never>>
export type OutputFor<Out> = Out extends AnySchema ? InputOf<Out> : unknown

/** A tool of a flat map. */
export interface ToolEntry<In, Out, Ctx = Context> extends ToolOptions<In, Out, Ctx> {
  run(input: InputFor<In>, context: Ctx): Returns<OutputFor<Out>>
}

/** Any flat map of tools. */
export type ToolMap = Readonly<Record<string, ToolEntry<never, never, never>>>
