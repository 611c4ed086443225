import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import type { ContentBlock, ResourceContents } from 'pierhead/client'
import type { Io } from './io.ts'
import type { Output } from './output.ts'

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

/** The most files that one command saves. */
const MOST_FILES = 1000

/** Bytes that a server sent: what they are, and their type. */
export interface SentBytes {
  readonly what: string
  readonly data: string
  readonly type: string
}

/** The bytes of a block or of the contents of a resource; undefined for text. */
export function bytesOf(content: ContentBlock | ResourceContents): SentBytes | undefined {
  const { type, data, mimeType, blob } = content as unknown as Readonly<Record<string, unknown>>
  const named = typeof mimeType === 'string' ? mimeType : ''
  if ((type === 'image' || type === 'audio') && typeof data === 'string')
    return { what: type, data, type: named }
  return typeof blob === 'string' ? { what: 'data', data: blob, type: named } : undefined
}

/** The paths of saved files by the content that had the bytes. */
export type SavedFiles = ReadonlyMap<object, string>

/** Saves the bytes of contents as new files of a folder. The server does not choose their names. Ctrl-C ends it. */
export async function saveBytes(
  contents: readonly (ContentBlock | ResourceContents)[],
  { io, output, folder }: { readonly io: Io; readonly output: Output; readonly folder: string | undefined },
): Promise<SavedFiles> {
  const saved = new Map<object, string>()
  if (folder === undefined) return saved
  const all = contents.flatMap((content) => {
    const inside = (content as { readonly resource?: ResourceContents }).resource ?? content
    const bytes = bytesOf(inside)
    return bytes === undefined ? [] : [{ inside, bytes }]
  })
  if (all.length === 0) return saved
  const home = resolve(io.cwd, folder)
  await mkdir(home, { recursive: true })
  const names = new FreeNames(await readdir(home))
  for (const { inside, bytes } of all.slice(0, MOST_FILES)) {
    io.signal.throwIfAborted()
    output.status(`saving ${saved.size + 1} of ${all.length} …`)
    saved.set(inside, relative(io.cwd, await write(bytes, home, names, io.signal)))
  }
  if (all.length > MOST_FILES)
    output.warn(
      `only the first ${MOST_FILES} of ${all.length} files were saved; --json prints the bytes of all of them`,
    )
  return saved
}

async function write(
  { what, data, type }: SentBytes,
  home: string,
  names: FreeNames,
  signal: AbortSignal,
): Promise<string> {
  const ending = Object.hasOwn(ENDINGS, type) ? (ENDINGS[type] ?? '') : 'bin'
  for (;;) {
    const path = join(home, names.next(what, ending))
    try {
      await writeFile(path, Buffer.from(data, 'base64'), { flag: 'wx', signal })
      return path
    } catch (error) {
      // Another program was faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

/** Names for new files of a folder, such as `image-1.png`. Each is given once. */
class FreeNames {
  readonly #taken: ReadonlySet<string>
  readonly #last = new Map<string, number>()

  constructor(taken: readonly string[]) {
    this.#taken = new Set(taken)
  }

  next(what: string, ending: string): string {
    const kind = `${what}.${ending}`
    for (let number = (this.#last.get(kind) ?? 0) + 1; ; number++) {
      const name = `${what}-${number}.${ending}`
      if (this.#taken.has(name)) continue
      this.#last.set(kind, number)
      return name
    }
  }
}
