import { relative } from 'node:path'
import type { ContentBlock, ResourceContents } from 'pierhead/client'
import type { Io } from './io.ts'
import type { Output } from './output.ts'
import { safe, safeLine, safeTexts } from './safe-text.ts'
import { bytesOf, type SavedFiles } from './saved-bytes.ts'

export interface ContentOptions {
  readonly io: Io
  readonly output: Output
  /** The files with the bytes of the contents, as far as they were saved. */
  readonly saved?: SavedFiles | undefined
}

/** Blocks of content as text for people. Images are shown where the terminal can. */
export function contentText(blocks: readonly ContentBlock[], options: ContentOptions): string {
  return safeTexts(blocks, (block) => blockText(block, options))
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

function bytesText(content: ContentBlock | ResourceContents, { io, output, saved }: ContentOptions): string {
  const sent = bytesOf(content)
  if (sent === undefined) return safe(JSON.stringify(content))
  const bytes = Buffer.from(sent.data, 'base64')
  const name = `${sent.what} ${safeLine(sent.type, 60)}, ${bytes.length} bytes`
  const path = saved?.get(content)
  if (path !== undefined) return `${name}, saved as ${safeLine(relative(io.cwd, path), 1000)}`
  const picture = sent.what === 'image' && !output.isJson ? pictureText(bytes, io) : undefined
  return picture ?? `[${name}; --save <folder> saves it]`
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
