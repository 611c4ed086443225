import { accessSync, constants, statSync, type Stats } from 'node:fs'
import { delimiter, extname, isAbsolute, join, resolve } from 'node:path'
import { Findings, type Finding } from './finding.ts'
import { redactedLine } from './redaction.ts'
import type { Io } from './io.ts'

/** A program as configurations name it. */
export interface NamedProgram {
  readonly command: string
  readonly args?: readonly string[] | undefined
  readonly cwd?: string | undefined
}

/** Checks that a program exists and can be run. Whether it is a server shows only when it runs. */
export function checkProgram(
  { command, args = [], cwd }: NamedProgram,
  io: Pick<Io, 'cwd' | 'env'>,
  findings: Findings,
): boolean {
  const shown = redactedLine(command)
  const folder = resolve(io.cwd, cwd ?? '.')
  if (!isFolder(folder)) {
    findings.problem(`there is no folder ${folder}, in which the program should run`, 'Correct cwd.')
    return false
  }
  if (/[\\/]/.test(command)) return checkPath(command, resolve(folder, command), findings)
  const found = onPath(command, io.env)
  if (found !== undefined) {
    findings.ok(`${shown} is ${redactedLine(found)}`)
    return true
  }
  const [first = '', ...more] = command.trim().split(/\s+/)
  if (more.length > 0 && args.length === 0)
    findings.problem(
      `there is no program called "${first} …"; it looks like a whole command line`,
      `Put the arguments into args: "command": "${first}", "args": ${JSON.stringify(redactedLine(command).split(' ').slice(1))}`,
    )
  else
    findings.problem(
      `there is no program ${shown} on the PATH`,
      `Install it, or write its whole path. Apps that are started from the desktop may have another PATH than your shell.`,
    )
  return false
}

/** What `checkProgram` finds. A configuration may name a program for thousands of servers, so each is looked for once. */
export function programCheck(io: Pick<Io, 'cwd' | 'env'>): (program: NamedProgram) => readonly Finding[] {
  const known = new Map<string, readonly Finding[]>()
  return (program) => {
    const { command, args = [], cwd } = program
    // Only whether there are arguments matters.
    const key = JSON.stringify([command, args.length > 0, cwd])
    const before = known.get(key)
    if (before !== undefined) return before
    const found = new Findings()
    checkProgram(program, io, found)
    known.set(key, found.list)
    return found.list
  }
}

function checkPath(command: string, path: string, findings: Findings): boolean {
  if (statsOf(path)?.isFile() !== true) {
    findings.problem(`there is no file ${redactedLine(path)}`, `Correct the path ${redactedLine(command)}.`)
    return false
  }
  if (!isExecutable(path)) {
    findings.problem(
      `${path} is not executable`,
      `chmod +x ${path}, or start it with its interpreter, such as node.`,
    )
    return false
  }
  findings.ok(`${path} is a program`)
  return true
}

/** The path of a program on the PATH. */
function onPath(command: string, env: Io['env']): string | undefined {
  const endings =
    process.platform === 'win32' && extname(command) === ''
      ? (env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')
      : ['']
  return (
    (env['PATH'] ?? env['Path'] ?? '')
      .split(delimiter)
      // Programs in the current folder are never run by accident, and neither is one named here.
      .filter((folder) => isAbsolute(folder))
      .flatMap((folder) => endings.map((ending) => join(folder, command + ending)))
      .find((path) => statsOf(path)?.isFile() === true && isExecutable(path))
  )
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function isFolder(path: string): boolean {
  return statsOf(path)?.isDirectory() === true
}

/** What is at a path; undefined if there is nothing, or nothing that this user may see. */
function statsOf(path: string): Stats | undefined {
  try {
    // Without an error, which takes longer than the look itself.
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
