import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { CommandTarget, UrlTarget } from 'pierhead/client'
import { nearest } from '../base/nearest.ts'
import { isMembers, SECTIONS, usableTarget, type Members } from './config-entry.ts'
import { Failure, wrongConfig } from './failure.ts'
import type { Io } from './io.ts'
import { parseJsonc } from './jsonc.ts'

/** The files in a project that name servers, in the order in which they count. */
const PROJECT_FILES = [
  'mcp.json',
  '.mcp.json',
  '.cursor/mcp.json',
  '.vscode/mcp.json',
  '.zed/settings.json',
  '.gemini/settings.json',
] as const

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
  for (const file of filesFor(io.cwd, config)) {
    const servers = serversIn(file)
    if (Object.hasOwn(servers, name))
      return { name, file, entry: usableTarget(servers[name], { file, name }, io.env) }
  }
  return undefined
}

/** Whether a server with a name is configured. Files that cannot be read have none, unless the user named them. */
export function isConfigured(name: string, cwd: string, config?: string): boolean {
  return filesFor(cwd, config).some((file) => {
    try {
      return Object.hasOwn(serversIn(file), name)
    } catch (error) {
      if (!(error instanceof Failure) || config !== undefined) throw error
      return false
    }
  })
}

/** The name of a configured server that is most like a word. */
export function similarName(word: string, cwd: string, config?: string): string | undefined {
  return nearest(
    word,
    filesFor(cwd, config).flatMap((file) => Object.keys(serversIn(file))),
  )
}

function filesFor(cwd: string, config: string | undefined): readonly string[] {
  return config === undefined ? projectFiles(cwd) : [resolve(cwd, config)]
}

/** The configuration files of a folder and those above it that exist. */
export function projectFiles(cwd: string): readonly string[] {
  const found: string[] = []
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    found.push(...PROJECT_FILES.map((name) => join(folder, name)).filter((file) => existsSync(file)))
    if (dirname(folder) === folder) return found
  }
}

/** The servers of a file by name, as they are written there. Comments and trailing commas, which editors allow, are accepted. */
export function serversIn(file: string): Members {
  const config = readConfig(file)
  const section = SECTIONS.find((name) => Object.hasOwn(config, name))
  const servers = section === undefined ? {} : config[section]
  if (isMembers(servers)) return servers
  throw wrongConfig(
    `${file} has no servers by name`,
    'Write { "mcpServers": { "name": { "command": "…" } } }.',
  )
}

function readConfig(file: string): Members {
  let text: string
  try {
    if (statSync(file).size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES} bytes`)
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw wrongConfig(
      `${file} cannot be read: ${(error as Error).message}`,
      'Name another file with --config.',
    )
  }
  try {
    const { value } = parseJsonc(text)
    if (isMembers(value)) return value
    throw new Error('it is not an object')
  } catch (error) {
    throw wrongConfig(`${file} is not valid JSON: ${(error as Error).message}`, 'Correct the file.')
  }
}
