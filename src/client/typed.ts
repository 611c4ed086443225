/** Any tools: names and inputs are free, outputs unknown. */
export interface AnyTools {
  readonly [name: string]: unknown
}

/** The names of the tools of a flat map. */
export type NameOf<Tools> = keyof Tools & string

export type InputOfTool<Tools, Name extends keyof Tools> = Tools[Name] extends { run(input: infer Input, ...rest: never[]): unknown }
  ? Input
  : Readonly<Record<string, unknown>>

export type OutputOfTool<_Tools, _Name> = unknown
