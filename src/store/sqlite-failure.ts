import { mcpError, McpError } from '../errors/error.ts'
import { STORE_FAILED } from '../errors/store.ts'
import { builtin } from './builtin.ts'

const BUSY = 5
const LOCKED = 6
const READONLY = 8
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const NOTADB = 26

const CODES: ReadonlyMap<string, number> = new Map([
  ['BUSY', BUSY],
  ['LOCKED', LOCKED],
  ['READONLY', READONLY],
  ['CORRUPT', CORRUPT],
  ['FULL', FULL],
  ['CANTOPEN', CANTOPEN],
  ['NOTADB', NOTADB],
])

/** The reasons that users can do something about, each with what to do. */
const REASONS: ReadonlyMap<number, readonly [reason: string, hint: string]> = new Map([
  [
    READONLY,
    [
      'it is read-only',
      'Let the program write to the file and to its folder, where SQLite keeps two more files, or pass sqlite another path.',
    ],
  ],
  [
    CANTOPEN,
    [
      'it cannot be opened',
      'Let the program read and write the file and its folder, or pass sqlite another path.',
    ],
  ],
  [CORRUPT, ['the file is damaged', 'Restore it from a backup, or move it away to begin with an empty one.']],
  [FULL, ['the disk is full', 'Make room on the disk.']],
  [
    NOTADB,
    [
      'the file is not an SQLite database',
      'Pass sqlite another path, or move that file away if nobody needs it.',
    ],
  ],
])

/** What SQLite says of tables that are not those which the file claims to have. */
const MISFIT = /\b(?:already exists|no such (?:table|column)|duplicate column name)\b/
const MISFITTING = [
  'the tables do not fit their version',
  'Restore it from a backup, or pass sqlite another path: somebody has changed the file.',
] as const

/** The result code of SQLite behind an error; 0 if there is none. */
function codeOf(error: unknown): number {
  const { errcode, code, message } = error as {
    readonly errcode?: unknown
    readonly code?: unknown
    readonly message?: unknown
  }
  // Node gives extended codes, whose last eight bits are the primary one.
  if (typeof errcode === 'number') return errcode & 255
  const name = /^SQLITE_([A-Z]+)/.exec(String(code))?.[1]
  if (name !== undefined) return CODES.get(name) ?? 0
  return Number(/ConnectionFailed\(.*: (\d+)"\)$/s.exec(String(message))?.[1] ?? 0)
}

/** Whether another connection held a lock for too long. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error)
  return code === BUSY || code === LOCKED
}

/** The error for the user of a store, with what to do. */
export function storeFailure(path: string, cause: unknown): McpError {
  if (cause instanceof McpError) return cause
  const [reason, hint] = MISFIT.test(messageOf(cause)) ? MISFITTING : (REASONS.get(codeOf(cause)) ?? [])
  if (reason === undefined) return mcpError(STORE_FAILED, { path, reason: messageOf(cause) }, { cause })
  return mcpError(STORE_FAILED, { path, reason }, { cause, hint })
}

/** Throws if a path leads to anything but a regular file, which may be missing: opening a pipe would block the process. */
export function checkFile(path: string): void {
  const { dirname, join } = builtin('node:path') ?? {}
  if (dirname === undefined || join === undefined) return
  const fail = (reason: string, hint: string): never => {
    throw mcpError(STORE_FAILED, { path, reason }, { hint })
  }
  const kind = kindOf(path)
  if (kind === 'file') return
  if (kind === 'folder') fail('it is a folder', `Pass the path of a file, such as ${join(path, 'app.db')}.`)
  if (kind === 'other') fail('it is not a regular file', 'Pass the path of a file, such as app.db.')
  if (kind === 'ENAMETOOLONG') fail('the name is too long', 'Pass sqlite a shorter path.')
  const folder = dirname(path)
  const holder = kindOf(folder)
  if (holder === 'ENOENT')
    fail(`the folder ${folder} does not exist`, 'Create the folder, or pass sqlite another path.')
  if (holder === 'file' || holder === 'other') fail(`${folder} is not a folder`, 'Pass sqlite another path.')
}

/** The kind of file at a path, or else the code of the error. */
function kindOf(path: string): string | undefined {
  try {
    const found = builtin('node:fs')?.statSync(path)
    if (found?.isDirectory() === true) return 'folder'
    return found === undefined || found.isFile() ? 'file' : 'other'
  } catch (error) {
    return (error as { readonly code?: string }).code
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
