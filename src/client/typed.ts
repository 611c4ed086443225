import type { ToolInput, ToolOutput } from '../schema/typed-tools.ts'

/** Any tools: names and inputs are free, outputs unknown. */
export interface AnyTools {
  readonly [name: string]: unknown
}

/** The names of the tools of a flat map. */
export type ToolName<Tools> = keyof Tools & string

/** What a call of a tool takes. */
export type InputOfTool<Tools, Name extends keyof Tools> = string extends keyof Tools
  ? Readonly<Record<string, unknown>>
  : ToolInput<Tools, Name>

/** What a call of a tool gives back: the type of its output schema, or unknown. */
export type OutputOfTool<Tools, Name extends keyof Tools> = string extends keyof Tools
  ? unknown
  : ToolOutput<Tools, Name>
