import type { InputOf, OutputOf } from './schema.ts'

/** The input type of a tool in a flat map; none if the tool has no input schema. */
export type ToolInput<Tools, Name extends keyof Tools> = Tools[Name] extends { readonly input?: infer Schema }
  ? unknown extends Schema
    ? Nothing
    : [Schema] extends [undefined]
      ? Nothing
      : InputOf<NonNullable<Schema>>
  : Nothing

type Nothing = Readonly<Record<string, never>>

/** The output type of a tool in a flat map; `unknown` if the tool has no output schema. */
export type ToolOutput<Tools, Name extends keyof Tools> = Tools[Name] extends {
  readonly output?: infer Schema
}
  ? [Schema] extends [undefined]
    ? unknown
    : OutputOf<NonNullable<Schema>>
  : unknown
