import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** The largest file of a project that is read, unless a caller says otherwise. */
const MOST_BYTES = 10_000_000

/** Reading from a pipe would wait for ever without this. Windows has no such flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/**
 * The text of a file that its author chose, and not the user; undefined if there is none. Throws if it is not a file or too large, and neither
 * waits nor reads more than `most` bytes, whatever the path leads to.
 */
export function readText(file: string, most: number = MOST_BYTES): string | undefined {
  const opened = openFile(file)
  if (opened === undefined) return undefined
  try {
    // The opened file is checked, so that it cannot be exchanged in between.
    const facts = fstatSync(opened)
    if (!facts.isFile()) throw new Error(NO_FILE)
    if (facts.size > most) throw tooLarge(most)
    return contentsOf(opened, most).toString('utf8')
  } finally {
    closeSync(opened)
  }
}

const NO_FILE = 'it is not a file'

function openFile(file: string): number | undefined {
  try {
    return openSync(file, FLAGS)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    // A socket cannot be opened at all, and Windows opens no folder.
    if (code === 'ENXIO' || code === 'EISDIR') throw new Error(NO_FILE, { cause: error })
    throw error
  }
}

/** Everything in an opened file. Its size may be wrong: the file may grow, and those in /proc have none. */
function contentsOf(opened: number, most: number): Buffer {
  const chunks: Buffer[] = []
  for (let size = 0; ;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK, most + 1 - size))
    const count = readSync(opened, chunk)
    if (count === 0) return Buffer.concat(chunks)
    size += count
    if (size > most) throw tooLarge(most)
    chunks.push(chunk.subarray(0, count))
  }
}

const CHUNK = 256_000

function tooLarge(most: number): Error {
  return new Error(`it is larger than ${most} bytes`)
}
