import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { nearest } from '../../base/nearest.ts'
import { itemFiles, keyOf, schemeOf, withItem, type ItemKind, type NewItem } from '../added-item.ts'
import { suggestion } from '../arranged-line.ts'
import type { Command } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { nearestFile } from '../project-folder.ts'
import { sourceFile } from '../source-file.ts'
import { projectServer } from '../target.ts'

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
    const { home, item, user } = placed(kind as ItemKind, name, io.cwd)
    const files = itemFiles(item)
    const there = files.find(({ path }) => existsSync(join(home, path)))
    if (there !== undefined) throw wrongUsage(`${there.path} already exists`, 'Choose another name.')
    const text = withItem(user, item)
    const written = text === undefined ? files : [...files, { path: user.path, text }]
    for (const file of written) requireInside(home, join(home, file.path))
    for (const file of written) {
      mkdirSync(dirname(join(home, file.path)), { recursive: true })
      writeFileSync(join(home, file.path), file.text)
    }
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
function placed(kind: ItemKind, name: string, cwd: string): Placed {
  const own = projectServer(cwd)
  if (own === undefined) throw noServer(cwd)
  const home = own.cwd
  const source = sourceFile(own.file, home)
  requireInside(home, source.path)
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

/** A project of somebody else must not lead us to other files, or put words into the code that we write. */
function requireInside(home: string, file: string): void {
  const path = relative(home, file)
  if (/['"`\\\p{C}]/u.test(path.split(sep).join('/')))
    throw wrongUsage(`${JSON.stringify(path)} has characters that code cannot name`, 'Rename the file.')
  let there = file
  while (!existsSync(there)) there = dirname(there)
  const real = relative(realpathSync(home), realpathSync(there))
  if (real === '..' || real.startsWith(`..${sep}`) || isAbsolute(real))
    throw wrongUsage(
      `${path} is outside the project`,
      'Name a server inside it, and replace links to other folders.',
    )
}

function noServer(cwd: string): Error {
  const manifest = nearestFile(cwd, 'package.json')
  return wrongUsage(
    manifest === undefined ? 'this folder has no project' : `${relative(cwd, manifest)} names no server`,
    `${manifest === undefined ? 'Create one with pierhead create, or name' : 'Name'} its server in package.json: "pierhead": { "server": "server.ts" }.`,
  )
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
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
