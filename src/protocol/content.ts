import { isObject } from './jsonrpc.ts'
import type {
  AudioContent,
  BlockOptions,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  Resource,
  ResourceLink,
  TextContent,
} from './spec/2026-07-28.ts'

export type {
  Annotations,
  AudioContent,
  BlockOptions,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceLink,
  TextContent,
} from './spec/2026-07-28.ts'

/** The description of a linked resource. Only `name` is required. */
export type LinkOptions = Omit<Resource, 'uri'>

/** The MIME type of bytes without a known type. */
export const BYTES = 'application/octet-stream'

/** A block of text. */
export function text(text: string, options?: BlockOptions): TextContent {
  return { type: 'text', text, ...options }
}

/**
 * An image: bytes, or base64 text.
 *
 * @example
 * return image(await readFile('chart.png'), 'image/png')
 */
export function image(data: string | Uint8Array, mimeType: string, options?: BlockOptions): ImageContent {
  return { type: 'image', data: toBase64(data), mimeType, ...options }
}

/** A sound: bytes, or base64 text. Revision 2024-11-05 has no sounds, so its clients get an embedded resource instead. */
export function audio(data: string | Uint8Array, mimeType: string, options?: BlockOptions): AudioContent {
  return { type: 'audio', data: toBase64(data), mimeType, ...options }
}

/**
 * A link to a resource that the client may read later.
 *
 * @example
 * return link('notes://42', { name: '42', title: 'Shopping', mimeType: 'text/markdown' })
 */
export function link(uri: string, options: LinkOptions): ResourceLink {
  return { type: 'resource_link', uri, ...options }
}

/**
 * A resource embedded in the message: strings are sent as text, bytes as base64. `mimeType` is by default unknown for text and
 * `application/octet-stream` for bytes.
 *
 * @example
 * return embed('notes://42', '# Shopping', 'text/markdown')
 */
export function embed(
  uri: string,
  contents: string | Uint8Array,
  mimeType?: string,
  options?: BlockOptions,
): EmbeddedResource {
  const about = mimeType === undefined ? { uri } : { uri, mimeType }
  const resource =
    typeof contents === 'string'
      ? { ...about, text: contents }
      : { mimeType: BYTES, ...about, blob: toBase64(contents) }
  return { type: 'resource', resource, ...options }
}

/** Whether a value is a content block: a known type with all its required members. */
export function isContentBlock(value: unknown): value is ContentBlock {
  if (!isObject(value)) return false
  switch (value['type']) {
    case 'text':
      return typeof value['text'] === 'string'
    case 'image':
    case 'audio':
      return typeof value['data'] === 'string' && typeof value['mimeType'] === 'string'
    case 'resource_link':
      return typeof value['uri'] === 'string' && typeof value['name'] === 'string'
    case 'resource':
      return isContents(value['resource'])
    default:
      return false
  }
}

function isContents(value: unknown): boolean {
  if (!isObject(value) || typeof value['uri'] !== 'string') return false
  return (typeof value['text'] === 'string') !== (typeof value['blob'] === 'string')
}

interface NodeBuffer {
  from(buffer: ArrayBufferLike, offset: number, length: number): { toString(encoding: 'base64'): string }
  from(text: string, encoding: 'base64'): Uint8Array
}

/** Few enough bytes for the arguments of one call, and a multiple of three so that the pieces can be concatenated. */
const CHUNK = 0x6000

/** Encodes bytes as base64; text is assumed to be base64 already. */
export function toBase64(data: string | Uint8Array): string {
  if (typeof data === 'string') return data
  const { Buffer } = globalThis as { readonly Buffer?: NodeBuffer }
  if (Buffer !== undefined)
    return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')
  const pieces: string[] = []
  for (let start = 0; start < data.length; start += CHUNK) {
    pieces.push(btoa(String.fromCharCode(...data.subarray(start, start + CHUNK))))
  }
  return pieces.join('')
}

/** Decodes base64; undefined unless the text is what `toBase64` writes: no white space, missing padding or stray bits. */
export function fromBase64(text: string): Uint8Array | undefined {
  const bytes = decodeBase64(text)
  return bytes !== undefined && toBase64(bytes) === text ? bytes : undefined
}

/** Decodes base64, also with white space or without padding; undefined if it is not base64 at all. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const { Buffer } = globalThis as { readonly Buffer?: NodeBuffer }
  if (Buffer !== undefined) return Buffer.from(text, 'base64')
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}
