import { existsSync, statSync } from 'node:fs'
import { basename, relative, resolve } from 'node:path'
import type { CommandTarget, UrlTarget } from 'pierhead/client'
import { configuredServer, isConfigured, similarName } from './config-files.ts'
import { type Failure, wrongUsage } from './failure.ts'
import type { Command, Flags } from './command.ts'
import type { Io } from './io.ts'
import { ownProgram } from './own-program.ts'
import { checkManifest, obstacles, projectServer, sourcePath } from './project-server.ts'
import { redactedLine, redactedUrl } from './redaction.ts'
import { parseUrl } from '../protocol/url.ts'

/** A server that a command talks to. */
export interface ResolvedTarget {
  /** What people call it; never has a secret. */
  readonly label: string
  readonly target: CommandTarget | UrlTarget
  /** Where it came from, for `info` and `doctor`. */
  readonly from: 'url' | 'program' | 'file' | 'configuration' | 'project'
  /** The file that was run or that has the configuration. */
  readonly file?: string | undefined
}

const SCHEME = /^(?:https?|wss?|tcp|tls|unix):/i
const SOURCE = /\.[cm]?[jt]sx?(?::[\w$]+)?$/

const WAYS =
  'Name a URL, a file such as server.ts, a server of an mcp.json file, or a program after --: -- node server.js'

const ENTRY =
  'In the folder of your server, a package.json with "pierhead": { "server": "server.ts" } names it for every command.'

/** The ways to name a target, and how the project of this folder names its server, unless it does already. */
function waysIn(io: Io): readonly string[] {
  const reasons = obstacles(io)
  return [WAYS, ...(reasons.length === 0 && projectServer(io) === undefined ? [ENTRY] : reasons)]
}

/** What a command line says about its target. */
export interface TargetLine {
  readonly words: readonly string[]
  /** The program after `--`. */
  readonly program: readonly string[]
  readonly command: Pick<Command, 'arguments'>
}

/** The target that a command line names, and the words that are left. */
export function pickTarget(
  { words, program, command }: TargetLine,
  flags: Flags,
  io: Io,
): { readonly target: ResolvedTarget; readonly words: readonly string[] } {
  const option = targetOption(flags)
  if (program.length > 0) {
    if (option !== undefined) throw twoTargets('--server and a program after --')
    return { target: programTarget(program, io), words }
  }
  if (option !== undefined) return { target: resolveTarget(option, flags, io), words }
  const [first, ...others] = words
  const own = projectServer(io)
  if (first !== undefined && (own === undefined || beginsWithTarget(words, command, flags, io)))
    return { target: resolveTarget(first, flags, io), words: others }
  if (own === undefined) throw wrongUsage('there is no target', waysIn(io).join('\n'))
  return { target: fileTarget(own.file, { cwd: own.cwd, env: io.env, from: 'project' }), words }
}

/** The target of a command that takes no other words. */
export function onlyTarget(line: Omit<TargetLine, 'command'>, flags: Flags, io: Io): ResolvedTarget {
  const [first] = line.words
  if (first === undefined) return pickTarget({ ...line, command: {} }, flags, io).target
  if (line.program.length > 0) throw twoTargets(`"${redactedUrl(first)}" and a program after --`)
  if (targetOption(flags) !== undefined) throw twoTargets(`"${redactedUrl(first)}" and --server`)
  return resolveTarget(first, flags, io)
}

/** The target that an option names. */
function targetOption(flags: Flags): string | undefined {
  const [server, url] = [flags.text('server'), flags.text('server-url')]
  if (server !== undefined && url !== undefined) throw twoTargets('--server and --server-url')
  return server ?? url
}

function twoTargets(which: string): Failure {
  return wrongUsage(`there are two targets: ${which}`, 'Give only one.')
}

/** Whether the first word is a target, in a project that has a server of its own. */
function beginsWithTarget(
  words: readonly string[],
  { arguments: list = [] }: Pick<Command, 'arguments'>,
  flags: Flags,
  io: Io,
): boolean {
  const [first = '', second = ''] = words
  const most = list.some(({ isMany }) => isMany) ? Number.POSITIVE_INFINITY : list.length
  if (words.length > most || flags.text('config') !== undefined) return true
  const required = list.filter(({ isOptional }) => isOptional !== true).length
  const isAddress = SCHEME.test(first)
  const isSource = SOURCE.test(first) && !first.includes('://')
  // As many words as the command needs are for the server of the project, unless they cannot be.
  if (words.length <= required)
    return (
      list[0]?.isUri !== true && (isAddress || (isSource && existsSync(sourcePath(resolve(io.cwd, first)))))
    )
  if (isAddress || isSource) return true
  // A tool or a prompt comes before its arguments, even if a server has the same name.
  if (required > 0 && /^[^=]+=|^@|^-$/.test(second)) return false
  return isConfigured(first, io)
}

/** The target that a word names, and nothing else. `ways` says what it may be. */
export function resolveTarget(word: string, flags: Flags, io: Io, ways?: string): ResolvedTarget {
  if (SCHEME.test(word)) return urlTarget(word)
  // A file that exists needs no configuration, which may be damaged.
  const isSource = SOURCE.test(word) && !word.includes('://')
  if (isSource && existsSync(sourcePath(resolve(io.cwd, word))))
    return fileTarget(resolve(io.cwd, word), { from: 'file', ...io })
  const configured = configuredServer(word, io, flags.text('config'))
  if (configured !== undefined) {
    const { entry, file, name } = configured
    return { label: name, target: entry, from: 'configuration', file }
  }
  if (isSource) return fileTarget(resolve(io.cwd, word), { from: 'file', ...io })
  throw notTarget(
    word,
    ways === undefined ? waysIn(io) : [ways, ...obstacles(io)],
    similarName(word, io, flags.text('config')),
  )
}

/** The failure that a word is no target. */
export function notTarget(word: string, ways: readonly string[] = [WAYS], similar?: string): Failure {
  return wrongUsage(
    `"${redactedUrl(word)}" is not a target${similar === undefined ? '' : `; did you mean "${similar}"?`}`,
    ways.join('\n'),
  )
}

function urlTarget(word: string): ResolvedTarget {
  let url: URL
  try {
    url = parseUrl(word)
  } catch {
    throw wrongUsage(`"${redactedUrl(word)}" is not a valid URL`, 'Write it like http://localhost:3000/mcp.')
  }
  return { label: redactedUrl(url.href), target: { url: word }, from: 'url' }
}

function programTarget(program: readonly string[], { cwd }: Io): ResolvedTarget {
  const [command = '', ...args] = program
  if (command === '') throw wrongUsage('the program after -- is empty', 'Write -- node server.js.')
  return { label: programLabel(program), target: { command, args, cwd }, from: 'program' }
}

/** Programs that run other programs. */
const RUNNERS = new Set(['bun', 'bunx', 'deno', 'node', 'npx', 'python', 'python3', 'tsx', 'uv', 'uvx'])

/** A short name for a program: its command and, for a runner such as node, the program that it runs. Other arguments may be secret. */
export function programLabel([command = '', ...args]: readonly string[]): string {
  const next = args.find((arg) => !QUIET.has(arg)) ?? ''
  const isNamed = RUNNERS.has(basename(command)) && next !== '' && !next.startsWith('-')
  return redactedLine(isNamed ? `${command} ${next}` : command)
}

/** Options and commands of runners between them and what they run. */
const QUIET = new Set(['-y', '--yes', 'run'])

interface FileOptions {
  readonly from: ResolvedTarget['from']
  readonly cwd: string
  readonly env: Io['env']
}

/** A file is run by this program, over stdio. */
function fileTarget(word: string, { from, cwd, env }: FileOptions): ResolvedTarget {
  const file = sourcePath(word)
  if (!existsSync(file) || !statSync(file).isFile())
    throw wrongUsage(`there is no file ${relative(cwd, file) || file}`, WAYS)
  checkManifest(file, env)
  const [command, ...args] = ownProgram()
  return {
    label: relative(cwd, word) || word,
    target: { command, args: [...args, 'run', '--stdio', word], cwd },
    from,
    file,
  }
}
