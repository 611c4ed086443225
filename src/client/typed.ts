import type { ToolInput, ToolOutput } from '../schema/typed-tools.ts'

/** Untyped tools: any names and inputs, unknown outputs. */
export interface AnyTools {
  readonly [name: string]: unknown
}

/** The names of the tools. */
export type ToolName<Tools> = keyof Tools & string

/** The input of a tool. */
export type InputOfTool<Tools, Name extends keyof Tools> = string extends keyof Tools
  ? Readonly<Record<string, unknown>>
  : ToolInput<Tools, Name>

/** The result of a call: the type of the output schema, or unknown. */
export type OutputOfTool<Tools, Name extends keyof Tools> = string extends keyof Tools
  ? unknown
  : ToolOutput<Tools, Name>
