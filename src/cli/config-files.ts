import { resolve } from 'node:path'
import type { CommandTarget, UrlTarget } from 'pierhead/client'
import { nearest } from '../base/nearest.ts'
import { isMembers, SECTIONS, usableTarget, type Members } from './config-entry.ts'
import { Failure, wrongConfig } from './failure.ts'
import { parseJsonc } from './jsonc.ts'
import { projectFiles, type Surroundings } from './project-files.ts'
import { readText } from './read-text.ts'

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
  io: Surroundings,
  config?: string,
): ConfiguredServer | undefined {
  for (const file of filesFor(io, config)) {
    const servers = serversIn(file)
    if (Object.hasOwn(servers, name))
      return { name, file, entry: usableTarget(servers[name], { file, name }, io.env) }
  }
  return undefined
}

/** Whether a server with a name is configured. Files that cannot be read have none, unless the user named them. */
export function isConfigured(name: string, io: Surroundings, config?: string): boolean {
  return filesFor(io, config).some((file) => {
    try {
      return Object.hasOwn(serversIn(file), name)
    } catch (error) {
      if (!(error instanceof Failure) || config !== undefined) throw error
      return false
    }
  })
}

/** The name of a configured server that is most like a word. */
export function similarName(word: string, io: Surroundings, config?: string): string | undefined {
  return nearest(
    word,
    filesFor(io, config).flatMap((file) => Object.keys(serversIn(file))),
  )
}

function filesFor(io: Surroundings, config: string | undefined): readonly string[] {
  return config === undefined ? projectFiles(io) : [resolve(io.cwd, config)]
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
    const found = readText(file, MOST_BYTES)
    if (found === undefined) throw new Error('it does not exist')
    text = found
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
