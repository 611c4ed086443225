import type { InputOf, OutputOf } from './schema.ts'

/** The input type of a tool in a flat map; none if the tool has no input schema. */
export type ToolInput<Tools, Name extends keyof Tools> = Tools[Name] extends { readonly input?: infer Schema }
  ? unknown extends Schema
    ? Readonly<Record<string, never>>
    : InputOf<NonNullable<Schema>>
  : Readonly<Record<string, never>>

/** The output type of a tool in a flat map; `unknown` if the tool has no output schema. */
export type ToolOutput<Tools, Name extends keyof Tools> = Tools[Name] extends {
  readonly output?: infer Schema
}
  ? unknown extends Schema
    ? unknown
    : OutputOf<NonNullable<Schema>>
  : unknown
