import { accessSync, constants, statSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import { type McpError, mcpError } from '../../errors/error.ts'
import { CONNECT_FAILED } from '../../errors/transport.ts'
import { programName } from './program-name.ts'

export interface Lookup {
  /** The directory that relative paths start from. */
  readonly cwd: string
  /** The value of PATH. */
  readonly path: string
  /** The value of PATHEXT on Windows. */
  readonly endings: string
  readonly platform: NodeJS.Platform
  /** Says what is at a path. */
  readonly probe?: (file: string) => Found
}

/** A program, something that cannot be executed, or nothing. */
type Found = 'program' | 'blocked' | undefined

const MAX_SHOWN = 12

/**
 * The absolute path of the program that a command names. Only absolute directories in PATH are searched, so a program in
 * the current directory is never run by accident.
 */
export function findExecutable(command: string, lookup: Lookup): string {
  const { cwd, platform, probe = probeFile } = lookup
  const path = platform === 'win32' ? win32 : posix
  const hasPath = platform === 'win32' ? /[\\/:]/.test(command) : command.includes('/')
  if (hasPath) return fromPath(path.resolve(cwd, command))
  const all = lookup.path.split(path.delimiter).map(unquoted)
  const directories = all.filter((directory) => path.isAbsolute(directory))
  let blocked: string | undefined
  for (const directory of directories) {
    for (const file of candidates(path.join(directory, command), lookup)) {
      const found = probe(file)
      if (found === 'program') return file
      if (found === 'blocked') blocked ??= file
    }
  }
  if (blocked !== undefined) throw notAllowed(command, blocked)
  throw failed(programName(command), `it was not found in ${placesOf(directories)}${remedy(command)}`)

  function fromPath(target: string): string {
    const files = candidates(target, lookup)
    const program = files.find((file) => probe(file) === 'program')
    if (program !== undefined) return program
    const held = files.find((file) => probe(file) === 'blocked')
    if (held !== undefined) throw notAllowed(command, held)
    const shown = programName(command)
    throw failed(shown, `the file ${path.resolve(cwd, shown)} does not exist${remedy(command)}`)
  }
}

/** Lacks of the system that may pass; all else is wrong with the command. */
const PASSING: readonly unknown[] = ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']
const WRONG_COMMAND =
  'Correct what the message names: give a program on the PATH, or the path of an executable file, and a folder that exists.'

/** The error for a command that could not be started. */
export function failed(command: string, reason: string, cause?: NodeJS.ErrnoException): McpError {
  const target = `the command ${JSON.stringify(command.slice(0, 256))}`
  if (cause === undefined)
    return mcpError(CONNECT_FAILED, { target, reason }, { hint: WRONG_COMMAND, retryable: false })
  const extras = PASSING.includes(cause.code) ? {} : { hint: WRONG_COMMAND, retryable: false }
  return mcpError(CONNECT_FAILED, { target, reason }, { ...extras, cause })
}

function candidates(file: string, { platform, endings }: Lookup): readonly string[] {
  if (platform !== 'win32') return [file]
  const known = endings.split(';').filter((ending) => /^\.\w+$/.test(ending))
  const has = known.some((ending) => file.toLowerCase().endsWith(ending.toLowerCase()))
  return has ? [file] : known.map((ending) => file + ending)
}

function unquoted(directory: string): string {
  return directory.replace(/^"(.*)"$/, '$1')
}

function placesOf(directories: readonly string[]): string {
  if (directories.length === 0) return 'PATH, which contains no absolute directories'
  const more = directories.length - MAX_SHOWN
  return `PATH: ${directories.slice(0, MAX_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function remedy(command: string): string {
  return /\s/.test(command) ? '; put arguments in args, not in the command' : ''
}

function notAllowed(command: string, file: string): McpError {
  return failed(command, `${file} is not an executable file`)
}

function probeFile(file: string): Found {
  try {
    if (!statSync(file).isFile()) return 'blocked'
  } catch {
    return undefined
  }
  try {
    accessSync(file, constants.X_OK)
    return 'program'
  } catch {
    return 'blocked'
  }
}
