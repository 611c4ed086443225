/** The content of messages at 2026-07-28: blocks, the contents of resources, and what both say about themselves. */

/** The speaker of a message in a prompt or in a conversation with a model. */
export type Role = 'user' | 'assistant'

/**
 * `_meta`: keys of the protocol, of extensions and of the application. A key of your own begins with a domain of yours, such
 * as `com.example/trace`. Prefixes whose second label is `modelcontextprotocol` or `mcp` are reserved.
 */
export interface Meta {
  readonly [key: string]: unknown
}

/** A picture that clients may show next to a name, since 2025-11-25. */
export interface Icon {
  /** An https: or data: URI. */
  readonly src: string
  /** The MIME type, such as `image/svg+xml`. Default: clients go by what `src` delivers. */
  readonly mimeType?: string | undefined
  /** The sizes it is made for: `48x48`, or `any` if it scales. Default: clients may use it at every size. */
  readonly sizes?: readonly string[] | undefined
  /** The background it is drawn for. Default: any. */
  readonly theme?: 'light' | 'dark' | undefined
}

/** Hints about the use of a content block or a resource. Clients may ignore them. */
export interface Annotations {
  /** The intended readers: `user`, `assistant` (the model), or both. Default: both. */
  readonly audience?: readonly Role[] | undefined
  /** From 0 (optional) to 1 (required). Default: nothing is said about the importance. */
  readonly priority?: number | undefined
  /** When it last changed, such as `2026-03-01T12:00:00Z`. Default: unknown. Since 2025-06-18. */
  readonly lastModified?: string | undefined
}

/** Members that every content block may have. */
export interface BlockOptions {
  /** The intended readers of the block and its importance. Default: not sent. */
  readonly annotations?: Annotations | undefined
  /** Data about the block for programs rather than the model. Default: none. Since 2025-06-18. */
  readonly _meta?: Meta | undefined
}

/** A block of text; `text()` creates one. */
export interface TextContent extends BlockOptions {
  /** Tells the kinds of blocks apart. */
  readonly type: 'text'
  /** The text that the model or the user reads. */
  readonly text: string
}

/** A picture; `image()` creates one from bytes. */
export interface ImageContent extends BlockOptions {
  /** Tells the kinds of blocks apart. */
  readonly type: 'image'
  /** Base64. */
  readonly data: string
  /** The type of the picture, such as `image/png`. Models understand only some. */
  readonly mimeType: string
}

/** A sound, since 2025-03-26; `audio()` creates one from bytes. */
export interface AudioContent extends BlockOptions {
  /** Tells the kinds of blocks apart. */
  readonly type: 'audio'
  /** Base64. */
  readonly data: string
  /** The type of the sound, such as `audio/wav`. */
  readonly mimeType: string
}

/** A resource with its contents, in a result or a prompt; `embed()` creates one. */
export interface EmbeddedResource extends BlockOptions {
  /** Tells the kinds of blocks apart. */
  readonly type: 'resource'
  /** The contents. Unlike with a link, the client does not have to read the resource. */
  readonly resource: ResourceContents
}

/** Text of a resource, as `resources/read` returns it. */
export interface TextResourceContents {
  /** The URI of this text. It may be below the URI that was read, if that stands for several. */
  readonly uri: string
  /** The type of the text, such as `text/markdown`. Default: unknown. */
  readonly mimeType?: string | undefined
  /** The text. A resource has either `text` or `blob`. */
  readonly text: string
  /** Data about the contents for programs. Default: none. Since 2025-06-18. */
  readonly _meta?: Meta | undefined
}

/** Bytes of a resource, as `resources/read` returns them. */
export interface BlobResourceContents {
  /** The URI of these bytes. It may be below the URI that was read, if that stands for several. */
  readonly uri: string
  /** The type of the bytes, such as `image/png`. Default: unknown. */
  readonly mimeType?: string | undefined
  /** Base64. */
  readonly blob: string
  /** Data about the contents for programs. Default: none. Since 2025-06-18. */
  readonly _meta?: Meta | undefined
}

/** Text or bytes. `'text' in contents` tells them apart. */
export type ResourceContents = TextResourceContents | BlobResourceContents
