import type { InputOf, OutputOf } from './schema.ts'

/** What a caller sends to a tool of a flat map; nothing when the tool has no input schema. */
export type ToolInput<Tools, Name extends keyof Tools> = Tools[Name] extends { readonly input?: infer Schema }
  ? unknown extends Schema
    ? Readonly<Record<string, never>>
    : InputOf<NonNullable<Schema>>
  : Readonly<Record<string, never>>

/** What a caller gets from a tool of a flat map; `unknown` when the tool has no output schema. */
export type ToolOutput<Tools, Name extends keyof Tools> = Tools[Name] extends {
  readonly output?: infer Schema
}
  ? unknown extends Schema
    ? unknown
    : OutputOf<NonNullable<Schema>>
  : unknown
