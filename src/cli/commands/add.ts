import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { nearest } from '../../base/nearest.ts'
import { itemFiles, keyOf, schemeOf, withItem, type ItemKind, type NewItem } from '../added-item.ts'
import { suggestion } from '../arranged-line.ts'
import type { Command } from '../command.ts'
import { failureOf, wrongUsage } from '../failure.ts'
import { nearestFile, type Surroundings } from '../project-files.ts'
import { obstacles, projectServer } from '../project-server.ts'
import { readText } from '../read-text.ts'
import { sourceFile } from '../source-file.ts'
import { realProjectFile, replaceFile } from '../write-file.ts'

const KINDS: readonly ItemKind[] = ['tool', 'resource', 'prompt']

export const add: Command = {
  name: 'add',
  group: 'Build a server',
  summary: 'add a tool, resource or prompt to a project, with its test',
  arguments: [
    { name: 'kind', summary: KINDS.join(', '), values: KINDS },
    { name: 'name', summary: 'such as word-count' },
  ],
  examples: [
    ['add tool word-count', 'adds a tool with a fixture and a test'],
    ['add prompt review', 'adds a prompt with a test'],
  ],
  async run({ words: [kind = '', name = ''], io, output }) {
    if (!(KINDS as readonly string[]).includes(kind))
      throw wrongUsage(
        `"${kind}" is not a kind${suggestion(nearest(kind, KINDS))}`,
        `The kinds are ${KINDS.join(', ')}.`,
      )
    if (!/^[A-Za-z][\w-]{0,63}$/.test(name))
      throw wrongUsage(`"${name}" is not a name`, 'Use letters, digits, - and _, and begin with a letter.')
    const { home, item, user } = placed(kind as ItemKind, name, io)
    const files = itemFiles(item)
    const there = files.find(({ path }) => existsSync(join(home, path)))
    if (there !== undefined) throw wrongUsage(`${there.path} already exists`, 'Choose another name.')
    const text = withItem(user, item)
    const written = text === undefined ? files : [...files, { path: user.path, text }]
    const places = written.map(({ path, text }) => ({ place: placeIn(home, join(home, path), io), text }))
    for (const one of places) replaceFile(one.place, one.text, 0o666)
    const next =
      text === undefined
        ? `Add it in ${user.path} yourself: its shape is not the one that create makes.`
        : 'Try it: npm test'
    await output.data(
      { kind, name, files: written.map(({ path }) => join(home, path)), isChanged: text !== undefined },
      () => [...written.map(({ path }) => `${output.colors.green('wrote')} ${path}`), next].join('\n'),
    )
  },
}

interface Placed {
  readonly home: string
  readonly item: NewItem
  /** The file that will use the item. Its text is empty if there is none. */
  readonly user: { readonly path: string; readonly text: string }
}

/** Where in the project a new item goes. */
function placed(kind: ItemKind, name: string, io: Surroundings): Placed {
  const own = projectServer(io)
  if (own === undefined) throw noServer(io)
  const home = own.cwd
  const source = sourceFile(own.file, home)
  placeIn(home, source.path, io)
  const server = { path: relative(home, source.path), name: source.name }
  // Beside the server, unless the project has such items, or tools, at its top.
  const atTop = [`${kind}s`, 'tools'].some((folder) => existsSync(join(home, folder)))
  const folder = join(atTop ? '.' : dirname(server.path), `${kind}s`)
  const path = kind === 'tool' ? join(folder, 'index.ts') : server.path
  const user = { path, text: textOf(join(home, path)) }
  const sources = [textOf(source.path), ...textsIn(join(home, folder))]
  const item = {
    kind,
    name,
    server,
    key: keyOf(kind, name, user.text),
    scheme: schemeOf(name, sources),
    path: join(folder, `${name}.ts`),
    hasZod: hasZod(source.path),
  }
  return { home, item, user }
}

/** The place of a file. A project of somebody else must not lead us to other files, or put words into the code that we write. */
function placeIn(home: string, file: string, io: Surroundings): string {
  const path = relative(home, file)
  if (/['"`\\\p{C}]/u.test(path.split(sep).join('/')))
    throw wrongUsage(`${JSON.stringify(path)} has characters that code cannot name`, 'Rename the file.')
  try {
    return realProjectFile(file, home, io)
  } catch (error) {
    const { message } = failureOf(error)
    throw wrongUsage(message, 'Name a server inside the project, and replace links to other folders.')
  }
}

function noServer(io: Surroundings): Error {
  const manifest = nearestFile('package.json', io)
  const notRead = obstacles(io)
  return wrongUsage(
    manifest === undefined || notRead.length > 0
      ? 'this folder has no project'
      : `${relative(io.cwd, manifest)} names no server`,
    [
      `${manifest === undefined ? 'Create one with pierhead create, or name' : 'Name'} its server in package.json: "pierhead": { "server": "server.ts" }.`,
      ...notRead,
    ].join('\n'),
  )
}

function textOf(file: string): string {
  try {
    return readText(file) ?? ''
  } catch (error) {
    throw wrongUsage(`${file} cannot be read: ${(error as Error).message}`, 'Replace it by a file.')
  }
}

function textsIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => textOf(join(folder, name)))
}

function hasZod(file: string): boolean {
  try {
    createRequire(file).resolve('zod')
    return true
  } catch {
    return false
  }
}
