import type {
  Annotations,
  AudioContent,
  EmbeddedResource,
  Icon,
  ImageContent,
  Meta,
  TextContent,
} from './2026-07-28-content.ts'

/** Tools, resources and prompts of 2026-07-28, as lists show them. */

// Tools

/** A JSON Schema 2020-12 whose root describes an object. */
export interface ObjectSchema {
  /** The dialect of the schema. Default: `https://json-schema.org/draft/2020-12/schema`. */
  readonly $schema?: string | undefined
  /** Arguments are always an object, so the root says `object`. */
  readonly type: 'object'
  readonly [keyword: string]: unknown
}

/** A JSON Schema 2020-12 with any root. */
export interface SchemaObject {
  /** The dialect of the schema. Default: `https://json-schema.org/draft/2020-12/schema`. */
  readonly $schema?: string | undefined
  readonly [keyword: string]: unknown
}

/**
 * Hints about the effects of a tool, since 2025-03-26. They are claims of the server: do not base a decision about safety on
 * the hints of a server you do not trust.
 */
export interface ToolAnnotations {
  /** A title for people. `title` of the tool, which is newer, comes first. Default: none. */
  readonly title?: string | undefined
  /** Whether a call changes nothing. Default: `false`. */
  readonly readOnlyHint?: boolean | undefined
  /** Whether a call may delete or overwrite something, rather than only add. Default: `true`. Meaningless for read-only tools. */
  readonly destructiveHint?: boolean | undefined
  /** Whether a second call with the same arguments has no further effect. Default: `false`. Clients may then repeat a failed call. */
  readonly idempotentHint?: boolean | undefined
  /** Whether the tool deals with things outside the server's control, such as web search does. Default: `true`. */
  readonly openWorldHint?: boolean | undefined
}

/** A tool as `tools/list` shows it. */
export interface Tool {
  /** Identifies the tool in calls, and is unique on the server. */
  readonly name: string
  /** The name to show to people. Default: `annotations.title` or `name`. Since 2025-06-18. */
  readonly title?: string | undefined
  /** Tells the model what the tool does and when to use it. Default: none. */
  readonly description?: string | undefined
  /** Describes the arguments. A tool without any has an object schema without properties. */
  readonly inputSchema: ObjectSchema
  /**
   * Describes `structuredContent`. Default: the tool promises nothing. Since 2025-06-18; before 2026-07-28 the root has to be
   * an object.
   */
  readonly outputSchema?: SchemaObject | undefined
  /** Hints about the effects of a call. Default: none, which means the defaults of each hint. Since 2025-03-26. */
  readonly annotations?: ToolAnnotations | undefined
  /** Pictures for the tool, for example in several sizes. Default: none. Since 2025-11-25. */
  readonly icons?: readonly Icon[] | undefined
  /** Data about the tool for programs. Default: none. Since 2025-06-18. */
  readonly _meta?: Meta | undefined
}

// Resources

/** A resource as `resources/list` shows it. */
export interface Resource {
  /** Identifies the resource for `read` and `subscribe`. The scheme is up to the server. */
  readonly uri: string
  /** A short name for programs, which need not be unique. */
  readonly name: string
  /** The name to show to people. Default: `name`. Since 2025-06-18. */
  readonly title?: string | undefined
  /** Tells the model what the resource contains. Default: none. */
  readonly description?: string | undefined
  /** The type of the contents, such as `text/markdown`. Default: unknown until the resource is read. */
  readonly mimeType?: string | undefined
  /** The size in bytes, before base64. Default: unknown. Clients can estimate the tokens from it. */
  readonly size?: number | undefined
  /** The intended readers of the resource, its importance, and the time of its last change. Default: not sent. */
  readonly annotations?: Annotations | undefined
  /** Pictures for the resource, for example in several sizes. Default: none. Since 2025-11-25. */
  readonly icons?: readonly Icon[] | undefined
  /** Data about the resource for programs. Default: none. Since 2025-06-18. */
  readonly _meta?: Meta | undefined
}

/** Many resources whose URIs have one form, as `resources/templates/list` shows them. */
export interface ResourceTemplate {
  /** An RFC 6570 template. */
  readonly uriTemplate: string
  /** A short name for programs, which need not be unique. */
  readonly name: string
  /** The name to show to people. Default: `name`. Since 2025-06-18. */
  readonly title?: string | undefined
  /** Tells the model what these resources are and how to fill in the variables. Default: none. */
  readonly description?: string | undefined
  /** The type of the contents, if all the resources have the same. Default: unknown. */
  readonly mimeType?: string | undefined
  /** The intended readers of the resources, their importance, and the time of their last change. Default: not sent. */
  readonly annotations?: Annotations | undefined
  /** Pictures for the template, for example in several sizes. Default: none. Since 2025-11-25. */
  readonly icons?: readonly Icon[] | undefined
  /** Data about the template for programs. Default: none. Since 2025-06-18. */
  readonly _meta?: Meta | undefined
}

/** A link to a resource, since 2025-06-18; `link()` creates one. The resource need not be in the server's list. */
export interface ResourceLink extends Resource {
  /** Tells the kinds of blocks apart. */
  readonly type: 'resource_link'
}

/** One part of a result or a prompt. `type` tells the kinds apart. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

// Prompts

/** An argument of a prompt. Its value is always a string. */
export interface PromptArgument {
  /** Identifies the argument, in `prompts/get` and for completion. */
  readonly name: string
  /** The name to show to people. Default: `name`. Since 2025-06-18. */
  readonly title?: string | undefined
  /** Tells people what to fill in. Default: none. */
  readonly description?: string | undefined
  /** Whether the prompt cannot be used without the argument. Default: `false`. */
  readonly required?: boolean | undefined
}

/** A prompt as `prompts/list` shows it. People choose prompts; models call tools. */
export interface Prompt {
  /** Identifies the prompt in `prompts/get`, and is unique on the server. */
  readonly name: string
  /** The name to show to people. Default: `name`. Since 2025-06-18. */
  readonly title?: string | undefined
  /** Tells people what the prompt is good for. Default: none. */
  readonly description?: string | undefined
  /** The arguments to ask the user for. Default: none. */
  readonly arguments?: readonly PromptArgument[] | undefined
  /** Pictures for the prompt, for example in several sizes. Default: none. Since 2025-11-25. */
  readonly icons?: readonly Icon[] | undefined
  /** Data about the prompt for programs. Default: none. Since 2025-06-18. */
  readonly _meta?: Meta | undefined
}
