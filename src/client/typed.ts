import type { ToolInput, ToolOutput } from '../schema/typed-tools.ts'
import type { CallOptions } from './options.ts'

/** Untyped tools: any names and inputs, unknown outputs. */
export interface AnyTools {
  readonly [name: string]: unknown
}

/**
 * The tools by name that the type argument of a client describes: itself, if it is a map from `defineTools`; those chained to
 * it, if it is a server. Where nothing is known, any tools.
 */
export type ToolsOf<Source> = Source extends { '~tools'?(tools: infer Tools): void; connect: unknown }
  ? Known<Tools>
  : Known<Source>

type Known<Tools> = [keyof Tools] extends [never] ? AnyTools : Tools

/**
 * The same tools as one mapped type, which the compiler compares member by member: `Client<typeof app>` and the client that
 * `connect(app)` returns are of one kind.
 */
export type Described<Source> = { readonly [Name in keyof ToolsOf<Source>]: ToolsOf<Source>[Name] }

/** The names of the tools. */
export type ToolName<Tools> = keyof ToolsOf<Tools> & string

/** The input of a tool. */
export type InputOfTool<Tools, Name extends ToolName<Tools>> =
  string extends ToolName<Tools> ? Readonly<Record<string, unknown>> : ToolInput<ToolsOf<Tools>, Name>

/** The result of a call: the type of the output schema, or unknown. */
export type OutputOfTool<Tools, Name extends ToolName<Tools>> =
  string extends ToolName<Tools> ? unknown : ToolOutput<ToolsOf<Tools>, Name>

/** The arguments of `call`, or with other options of `start`, after the name. The input may be left out if the tool requires no argument. */
export type CallArguments<Tools, Name extends ToolName<Tools>, Options = CallOptions> =
  {} extends InputOfTool<Tools, Name>
    ? [input?: InputOfTool<Tools, Name>, options?: Options]
    : [input: InputOfTool<Tools, Name>, options?: Options]

/**
 * A client of which only the tools matter. If `call` took them from the type parameter of its class, the compiler would
 * visit all tools of a server for each call.
 */
export interface TypedClient<Tools> {
  /** Does not exist. It carries the types of the tools. */
  '~tools'?(tools: Tools): void
}
