import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { ContentBlock, ResourceContents } from 'pierhead/client'
import type { Io } from './io.ts'
import type { Output } from './output.ts'
import { safe, safeLine } from './safe-text.ts'

export interface ContentOptions {
  readonly io: Io
  readonly output: Output
  /** The files of those blocks and contents that were saved. */
  readonly saved?: SavedFiles | undefined
}

/** Blocks or contents with bytes, and the whole paths of the files that have these. */
export type SavedFiles = ReadonlyMap<object, string>

/** Endings of files by type; others get `.bin`, so that nothing is opened by mistake. */
const ENDINGS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'text/plain': 'txt',
}

/** Blocks of content as text for people. Images are shown where the terminal can, or saved. */
export function contentText(blocks: readonly ContentBlock[], options: ContentOptions): string {
  return blocks.map((block) => blockText(block, options)).join('\n')
}

/** Saves the bytes of blocks and contents in a folder; undefined if there is no folder. */
export function saveBytes(
  items: readonly (ContentBlock | ResourceContents)[],
  folder: string | undefined,
  { cwd }: Io,
): SavedFiles | undefined {
  if (folder === undefined) return undefined
  const saved = new Map<object, string>()
  for (const item of items) {
    const bytes = bytesOf(item)
    if (bytes !== undefined) saved.set(item, save(bytes, resolve(cwd, folder)))
  }
  return saved
}

/** Bytes in what a server sent. */
interface Bytes {
  readonly what: string
  readonly type: string
  readonly bytes: Buffer
}

/** The bytes of a block or of the contents of a resource; undefined if it has none. */
function bytesOf(item: ContentBlock | ResourceContents): Bytes | undefined {
  const { type, data, mimeType, resource, blob } = item as unknown as Readonly<Record<string, unknown>>
  if (type === 'resource') return bytesOf(resource as ResourceContents)
  const isMedia = type === 'image' || type === 'audio'
  const text = isMedia ? data : blob
  if (typeof text !== 'string') return undefined
  return {
    what: isMedia ? type : 'data',
    type: typeof mimeType === 'string' ? mimeType : '',
    bytes: Buffer.from(text, 'base64'),
  }
}

function blockText(block: ContentBlock, options: ContentOptions): string {
  switch (block.type) {
    case 'text':
      return safe(block.text)
    case 'image':
    case 'audio':
      return bytesText(block, options)
    case 'resource_link':
      return `${safeLine(block.uri, 500)}${block.name === undefined ? '' : `  ${safeLine(block.name)}`}`
    case 'resource': {
      const { resource } = block
      return 'text' in resource && typeof resource.text === 'string'
        ? safe(resource.text)
        : bytesText(block, options)
    }
    default:
      return safe(JSON.stringify(block))
  }
}

/** The contents of a resource as text for people. */
export function contentsText(contents: ResourceContents, options: ContentOptions): string {
  if ('text' in contents && typeof contents.text === 'string') return safe(contents.text)
  return bytesText(contents, options)
}

function bytesText(item: ContentBlock | ResourceContents, { io, output, saved }: ContentOptions): string {
  const found = bytesOf(item)
  if (found === undefined) return safe(JSON.stringify(item))
  const { what, type, bytes } = found
  const name = `${what} ${safeLine(type, 60)}, ${bytes.length} bytes`
  const file = saved?.get(item)
  if (file !== undefined) return `${name}, saved as ${relative(io.cwd, file)}`
  const picture = what === 'image' && !output.isJson ? pictureText(bytes, io) : undefined
  return picture ?? `[${name}; --save <folder> saves it]`
}

/** Writes bytes into a new file, whose name the server does not choose. Returns its whole path. */
function save({ what, type, bytes }: Bytes, folder: string): string {
  mkdirSync(folder, { recursive: true })
  const ending = Object.hasOwn(ENDINGS, type) ? ENDINGS[type] : 'bin'
  for (let number = 1; ; number++) {
    const path = join(folder, `${what}-${number}.${ending}`)
    if (existsSync(path)) continue
    writeFileSync(path, bytes, { flag: 'wx' })
    return path
  }
}

/** A result for programs, with the files that were saved. */
export function withSaved(result: object, saved: SavedFiles | undefined): object {
  return saved === undefined ? result : { ...result, saved: [...saved.values()] }
}

/** The escape sequence that makes a terminal show a picture; undefined for one that cannot. Only base64 of ours is in it. */
function pictureText(bytes: Buffer, { stdout, env }: Io): string | undefined {
  if (stdout.isTTY !== true || bytes.length > 2_000_000) return undefined
  if (env['TERM_PROGRAM'] === 'iTerm.app' || env['TERM_PROGRAM'] === 'WezTerm')
    return `\u001b]1337;File=inline=1;size=${bytes.length}:${bytes.toString('base64')}\u0007`
  const isPng = bytes.subarray(1, 4).toString('latin1') === 'PNG'
  if (env['KITTY_WINDOW_ID'] === undefined || !isPng) return undefined
  const chunks = bytes.toString('base64').match(/.{1,4096}/g) ?? []
  const last = chunks.length - 1
  return chunks
    .map((chunk, i) => `\u001b_G${i === 0 ? 'a=T,f=100,' : ''}m=${i === last ? 0 : 1};${chunk}\u001b\\`)
    .join('')
}
