import { isAbsolute, resolve } from 'node:path'
import type { CommandTarget, UrlTarget } from 'pierhead/client'
import { isUrl } from '../protocol/url.ts'
import { projectFolder, withVariables } from './config-variables.ts'
import { type Failure, wrongConfig } from './failure.ts'
import type { Io } from './io.ts'

export type Members = Readonly<Record<string, unknown>>

/** The members of a file that have its servers, as different clients call them. */
export const SECTIONS = ['mcpServers', 'servers', 'context_servers'] as const

/** The names that clients have for the URL of a server. */
const URL_NAMES = ['url', 'serverUrl', 'httpUrl'] as const

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The URL of an entry, whatever its client calls it. */
export function entryUrl(entry: Members): unknown {
  return URL_NAMES.map((name) => entry[name]).find((value) => value !== undefined)
}

/** An entry with the names that most clients use. Zed may have the command as an object of its own. */
export function plainEntry(entry: Members): Members {
  const { command } = entry
  if (!isMembers(command)) return entry
  const { path, args, env } = command
  return { args, env, ...entry, command: path }
}

/** What is wrong with an entry, and what to do; undefined if it can be used. Its variables may stand for anything. */
export function entryProblem(given: unknown): readonly [problem: string, fix: string] | undefined {
  if (!isMembers(given))
    return ['is not an object', 'Write { "command": "…", "args": [] } or { "url": "https://…" }.']
  const entry = plainEntry(given)
  const { command, args, env, cwd, headers } = entry
  const url = entryUrl(entry)
  if (command === undefined && url === undefined)
    return [
      'has neither a command nor a URL',
      'Add "command" for a program, or "url" for a server on the network.',
    ]
  if (command === undefined)
    return isUrlText(url)
      ? textsProblem('headers', headers)
      : ['has a URL that is not valid', 'Write it like https://mcp.example/mcp.']
  if (typeof command !== 'string' || command === '')
    return ['has a "command" that is not a text', 'Write the program alone: "command": "node".']
  if (args !== undefined && (!Array.isArray(args) || args.some((arg) => typeof arg !== 'string')))
    return ['has "args" that are not a list of texts', 'Write "args": ["server.js", "--port", "3000"].']
  if (cwd !== undefined && typeof cwd !== 'string')
    return ['has a "cwd" that is not a text', 'Write the path of a folder.']
  return textsProblem('env', env)
}

function textsProblem(name: string, value: unknown): readonly [string, string] | undefined {
  const isFine =
    value === undefined || (isMembers(value) && Object.values(value).every((one) => typeof one === 'string'))
  return isFine
    ? undefined
    : [`has values in "${name}" that are not texts`, `Write "${name}": { "NAME": "value" }.`]
}

function isUrlText(value: unknown): boolean {
  // A variable may be anything.
  return typeof value === 'string' && (value.includes('${') || isUrl(value))
}

/** The target that an entry names, with `fill` for its texts. Throws if it names none. */
export function targetOf(
  given: unknown,
  { file, name }: { readonly file: string; readonly name: string },
  fill: (text: string) => string,
): CommandTarget | UrlTarget {
  const problem = entryProblem(given)
  if (problem !== undefined) throw entryFailure(file, name, problem)
  const entry = filled(plainEntry(given as Members), fill) as Members
  const { command, args, env, cwd, headers } = entry
  if (command === undefined) {
    const url = entryUrl(entry) as string
    if (!isUrl(url) && !url.includes('${'))
      throw entryFailure(file, name, ['has a URL that is not valid', 'Look at its variables.'])
    return { url, ...(headers !== undefined && { headers: headers as Record<string, string> }) }
  }
  const folder = projectFolder(file)
  return {
    command: command as string,
    args: (args ?? []) as readonly string[],
    env: (env ?? {}) as Record<string, string>,
    // Editors start programs in the folder of the project.
    cwd:
      cwd === undefined
        ? folder
        : isAbsolute(cwd as string)
          ? (cwd as string)
          : resolve(folder, cwd as string),
  }
}

/** The same, with its variables replaced by their values. */
export function usableTarget(
  given: unknown,
  place: { readonly file: string; readonly name: string },
  env: Io['env'],
): CommandTarget | UrlTarget {
  return targetOf(given, place, (text) => withVariables(text, place.file, env))
}

function entryFailure(file: string, name: string, [problem, fix]: readonly [string, string]): Failure {
  return wrongConfig(`${file}: the server "${name.slice(0, 80)}" ${problem}`, fix)
}

function filled(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === 'string') return fill(value)
  if (Array.isArray(value)) return value.map((one: unknown) => filled(one, fill))
  if (!isMembers(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, fill)]))
}
