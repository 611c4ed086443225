import { readdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { ContentBlock, ResourceContents } from 'pierhead/client'
import type { Io } from './io.ts'
import { makeFolder } from './make-folder.ts'
import type { Output } from './output.ts'
import { outputFile } from './write-file.ts'

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

/** The bytes of a block or of the contents of a resource; undefined if it has none. */
export function bytesOf(content: ContentBlock | ResourceContents): SentBytes | undefined {
  const { type, data, mimeType, resource, blob } = content as unknown as Readonly<Record<string, unknown>>
  if (type === 'resource') return bytesOf(resource as ResourceContents)
  const isMedia = type === 'image' || type === 'audio'
  const text = isMedia ? data : blob
  if (typeof text !== 'string') return undefined
  return { what: isMedia ? type : 'data', data: text, type: typeof mimeType === 'string' ? mimeType : '' }
}

/** Blocks or contents with bytes, and the whole paths of the files that have these. */
export type SavedFiles = ReadonlyMap<object, string>

/**
 * Saves the bytes of blocks and contents as new files of a folder; undefined if there is no folder. The server does not choose
 * their names. Ctrl-C ends it.
 */
export async function saveBytes(
  contents: readonly (ContentBlock | ResourceContents)[],
  folder: string | undefined,
  { io, output }: { readonly io: Io; readonly output: Output },
): Promise<SavedFiles | undefined> {
  if (folder === undefined) return undefined
  const saved = new Map<object, string>()
  const all = contents.flatMap((content) => {
    const bytes = bytesOf(content)
    return bytes === undefined ? [] : [{ content, bytes }]
  })
  if (all.length === 0) return saved
  const home = dirname(outputFile(join(resolve(io.cwd, folder), 'new'), io))
  makeFolder(home)
  const names = new FreeNames(await readdir(home))
  for (const { content, bytes } of all.slice(0, MOST_FILES)) {
    io.signal.throwIfAborted()
    output.status(`saving ${saved.size + 1} of ${all.length} …`)
    saved.set(content, await write(bytes, home, names, io.signal))
  }
  output.status('')
  if (all.length > MOST_FILES)
    output.warn(
      `only the first ${MOST_FILES} of ${all.length} files were saved; --json prints the bytes of all of them`,
    )
  return saved
}

/** A result for programs, with the files that were saved. */
export function withSaved(result: object, saved: SavedFiles | undefined): object {
  return saved === undefined ? result : { ...result, saved: [...saved.values()] }
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
