import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CommandTarget, Config, UrlTarget } from 'pierhead/client'
import { nearest } from '../base/nearest.ts'
import { wrongUsage } from './failure.ts'
import type { Io } from './io.ts'
import { parseJsonc } from './jsonc.ts'
import { projectFiles } from './project-files.ts'

const MOST_BYTES = 1_000_000

/** A server of a configuration file. */
export interface ConfiguredServer {
  readonly name: string
  readonly file: string
  readonly entry: CommandTarget | UrlTarget
}

/** The server with a name in the given file, or in the nearest one that has it; undefined if none has. */
export function configuredServer(
  name: string,
  io: Pick<Io, 'cwd' | 'env'>,
  config?: string,
): ConfiguredServer | undefined {
  for (const file of config === undefined ? projectFiles(io) : [resolve(io.cwd, config)]) {
    const entry = serversIn(file).get(name)
    if (entry !== undefined) return { name, file, entry: expanded(entry, io.env, file) }
  }
  return undefined
}

/** The names of all servers that can be named. */
function configuredNames(io: Pick<Io, 'cwd' | 'env'>, config?: string): readonly string[] {
  const files = config === undefined ? projectFiles(io) : [resolve(io.cwd, config)]
  return [...new Set(files.flatMap((file) => [...serversIn(file).keys()]))]
}

/** The name of a configured server that is most like a word. */
export function similarName(word: string, io: Pick<Io, 'cwd' | 'env'>, config?: string): string | undefined {
  return nearest(word, configuredNames(io, config))
}

/** The servers of a file by name. Comments and trailing commas, which editors allow, are accepted. */
function serversIn(file: string): ReadonlyMap<string, CommandTarget | UrlTarget> {
  const config = readConfig(file)
  const servers = config.mcpServers ?? config.servers ?? {}
  if (typeof servers !== 'object' || servers === null || Array.isArray(servers))
    throw wrongUsage(
      `${file} has no servers by name`,
      'Write { "mcpServers": { "name": { "command": "…" } } }.',
    )
  return new Map(Object.entries(servers))
}

export function readConfig(file: string): Config {
  let text: string
  try {
    const stat = statSync(file)
    // Reading from a pipe would wait for ever.
    if (!stat.isFile()) throw new Error('it is not a file')
    if (stat.size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES} bytes`)
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw wrongUsage(
      `${file} cannot be read: ${(error as Error).message}`,
      'Name another file with --config.',
    )
  }
  try {
    const { value } = parseJsonc(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Config
    throw new Error('it is not an object')
  } catch (error) {
    throw wrongUsage(`${file} is not valid JSON: ${(error as Error).message}`, 'Correct the file.')
  }
}

/** An entry with `${NAME}`, `${env:NAME}` and `${NAME:-default}` replaced, as editors do. */
function expanded<Entry>(entry: Entry, env: Io['env'], file: string): Entry {
  if (typeof entry === 'string') {
    const replace = (whole: string, name: string, otherwise?: string): string => {
      const value = env[name] ?? otherwise
      if (value !== undefined) return value
      throw wrongUsage(`${file} uses ${whole}, but ${name} is not set`, `Set it: ${name}=… pierhead …`)
    }
    return entry.replaceAll(/\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}/g, replace) as Entry
  }
  if (Array.isArray(entry)) return entry.map((one: unknown) => expanded(one, env, file)) as Entry
  if (typeof entry !== 'object' || entry === null) return entry
  const members = Object.entries(entry).map(([name, value]) => [name, expanded(value as unknown, env, file)])
  return Object.fromEntries(members) as Entry
}
