/** Any tools: names and inputs are free, outputs unknown. */
export interface AnyTools {
  readonly [name: string]: unknown
}

/** The names of the tools of a flat map. */
export type NameOf<Tools> = keyof Tools & string

/** What a tool of a flat map takes. */
export type InputOfTool<Tools, Name extends keyof Tools> = Tools[Name] extends {
  run(input: infer Input, ...rest: never[]): unknown
}
  ? Input
  : Readonly<Record<string, unknown>>

/** What a call of a tool gives back: the type of its output schema, or unknown. */
export type OutputOfTool<Tools, Name extends keyof Tools> = Tools[Name] extends {
  readonly output?: infer Output
}
  ? Output extends { readonly '~standard': { readonly types?: { readonly output: infer Value } | undefined } }
    ? Value
    : unknown
  : unknown
