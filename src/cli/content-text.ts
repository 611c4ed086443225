import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { ContentBlock, ResourceContents } from 'pierhead/client'
import type { Io } from './io.ts'
import type { Output } from './output.ts'
import { safe, safeLine } from './safe-text.ts'

export interface ContentOptions {
  readonly io: Io
  readonly output: Output
  /** The folder for images, sounds and other bytes; undefined if they are not saved. */
  readonly folder?: string | undefined
}

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

function blockText(block: ContentBlock, options: ContentOptions): string {
  switch (block.type) {
    case 'text':
      return safe(block.text)
    case 'image':
    case 'audio':
      return bytesText(block.type, block.data, block.mimeType, options)
    case 'resource_link':
      return `${safeLine(block.uri, 500)}${block.name === undefined ? '' : `  ${safeLine(block.name)}`}`
    case 'resource':
      return contentsText(block.resource, options)
    default:
      return safe(JSON.stringify(block))
  }
}

/** The contents of a resource as text for people. */
export function contentsText(contents: ResourceContents, options: ContentOptions): string {
  if ('text' in contents && typeof contents.text === 'string') return safe(contents.text)
  const { blob, mimeType } = contents as { readonly blob?: unknown; readonly mimeType?: unknown }
  if (typeof blob !== 'string') return safe(JSON.stringify(contents))
  return bytesText('data', blob, typeof mimeType === 'string' ? mimeType : '', options)
}

function bytesText(what: string, data: string, type: string, { io, output, folder }: ContentOptions): string {
  const bytes = Buffer.from(data, 'base64')
  const name = `${what} ${safeLine(type, 60)}, ${bytes.length} bytes`
  if (folder !== undefined) return `${name}, saved as ${save(bytes, what, type, io, folder)}`
  const picture = what === 'image' && !output.isJson ? pictureText(bytes, io) : undefined
  return picture ?? `[${name}; --save <folder> saves it]`
}

/** Writes bytes into a new file, whose name the server does not choose. */
function save(bytes: Buffer, what: string, type: string, { cwd }: Io, folder: string): string {
  const home = resolve(cwd, folder)
  mkdirSync(home, { recursive: true })
  const ending = Object.hasOwn(ENDINGS, type) ? ENDINGS[type] : 'bin'
  for (let number = 1; ; number++) {
    const path = join(home, `${what}-${number}.${ending}`)
    if (existsSync(path)) continue
    writeFileSync(path, bytes, { flag: 'wx' })
    return relative(cwd, path)
  }
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
