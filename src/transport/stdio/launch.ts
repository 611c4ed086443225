import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import process from 'node:process'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import { isObject } from '../../protocol/jsonrpc.ts'
import { isBatchFile, toBatchCall } from './batch-file.ts'
import { toEnvironment, type Inherit } from './environment.ts'
import { failed, findExecutable } from './executable.ts'
import { programName } from './program-name.ts'

/** The program to start. */
export interface Command {
  readonly command: string
  /** Passed to the program one by one, never through a shell. */
  readonly args?: readonly string[] | undefined
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  readonly cwd?: string | undefined
  /** How much of our environment the process inherits; by default the harmless essentials. */
  readonly inherit?: Inherit | undefined
}

/** Everything that the system needs to start a program. */
export interface Launch {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Record<string, string>
  readonly cwd: string
  /** Whether the arguments are already quoted for the command line; Windows only. */
  readonly verbatim: boolean
  /** Requested variables that were omitted. */
  readonly left: readonly string[]
}

/** Rejects commands that can never be started. */
export function checkCommand({ command, args = [], inherit = 'safe', env = {}, cwd }: Command): void {
  if (typeof command !== 'string' || command.trim() === '')
    throw bad('command', 'it must be the name or path of a program')
  if (command.includes('\0')) throw bad('command', 'it contains NUL')
  if (!Array.isArray(args)) throw bad('args', `it must be a list; write args: ['server.js']`)
  for (const argument of args as readonly unknown[]) {
    if (typeof argument !== 'string' || argument.includes('\0'))
      throw bad('args', 'each argument must be a string without NUL')
  }
  if (!isObject(env)) throw bad('env', `it must be an object; write env: { NAME: 'value' }`)
  if (!['none', 'safe', 'all'].includes(inherit)) throw bad('inherit', 'it must be "none", "safe" or "all"')
  if (cwd !== undefined && (typeof cwd !== 'string' || cwd.includes('\0')))
    throw bad('cwd', 'it must be the path of a directory')
}

/** Finds the program and prepares to start it; the error says what was not found, and where. */
export function toLaunch({ command, args = [], env = {}, inherit = 'safe', cwd = '.' }: Command): Launch {
  const { platform } = process
  const directory = resolve(cwd)
  if (!isDirectory(directory))
    throw failed(programName(command), `the working directory ${directory} does not exist`)
  const { variables, left } = toEnvironment({ inherit, env, own: process.env, platform })
  const file = findExecutable(command, {
    cwd: directory,
    path: named('PATH', variables) ?? named('PATH', process.env) ?? '',
    endings: named('PATHEXT', variables) ?? named('PATHEXT', process.env) ?? '.COM;.EXE;.BAT;.CMD',
    platform,
  })
  const batch = platform === 'win32' && isBatchFile(file)
  const call = batch
    ? toBatchCall(file, args, named('SYSTEMROOT', process.env) ?? 'C:\\Windows')
    : { file, args }
  return { ...call, env: variables, cwd: directory, verbatim: batch, left }
}

/** Looks up a variable, ignoring case on Windows. */
function named(name: string, variables: Readonly<Record<string, string | undefined>>): string | undefined {
  if (process.platform !== 'win32') return variables[name]
  const found = Object.keys(variables).find((key) => key.toUpperCase() === name)
  return found === undefined ? undefined : variables[found]
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function bad(name: string, reason: string): Error {
  return mcpError(BAD_OPTION, { where: name, reason })
}
