import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { itemFiles, toolFiles, withItem, withTool, type ItemKind, type WrittenFile } from '../added-item.ts'
import type { Command } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { projectServer } from '../target.ts'

const KINDS: readonly ItemKind[] = ['tool', 'resource', 'prompt']

export const add: Command = {
  name: 'add',
  group: 'Build a server',
  summary: 'add a tool, resource or prompt to a project, with its test',
  arguments: [
    { name: 'kind', summary: KINDS.join(', ') },
    { name: 'name', summary: 'such as word-count' },
  ],
  examples: [
    ['add tool word-count', 'adds a tool with a fixture and a test'],
    ['add prompt review', 'adds a prompt with a test'],
  ],
  async run({ words: [kind = '', name = ''], io, output }) {
    if (!(KINDS as readonly string[]).includes(kind))
      throw wrongUsage(`"${kind}" is not a kind`, `The kinds are ${KINDS.join(', ')}.`)
    if (!/^[A-Za-z][\w-]{0,63}$/.test(name))
      throw wrongUsage(`"${name}" is not a name`, 'Use letters, digits, - and _, and begin with a letter.')
    const own = projectServer(io.cwd)
    if (own === undefined)
      throw wrongUsage(
        'this folder has no project',
        'Create one with pierhead create, or name its server in package.json: "pierhead": { "server": "server.ts" }.',
      )
    const server = relative(own.cwd, own.file)
    const files =
      kind === 'tool' ? toolFiles(name, server) : itemFiles(kind as 'resource' | 'prompt', name, server)
    const there = files.find(({ path }) => existsSync(join(own.cwd, path)))
    if (there !== undefined) throw wrongUsage(`${there.path} already exists`, 'Choose another name.')
    const joined = joinedFile(kind as ItemKind, name, own.cwd, server)
    const written = joined.text === undefined ? files : [...files, { path: joined.path, text: joined.text }]
    for (const file of written) write(own.cwd, file)
    const next =
      joined.text === undefined
        ? `Add it in ${joined.path} yourself: its shape is not the one that create makes.`
        : 'Try it: npm test'
    await output.data(
      { kind, name, files: written.map(({ path }) => path), changed: joined.text !== undefined },
      () => [...written.map(({ path }) => `${output.colors.green('wrote')} ${path}`), next].join('\n'),
    )
  },
}

/** The file that names the new item, with it; its text is undefined if it has a shape of its own. */
function joinedFile(
  kind: ItemKind,
  name: string,
  home: string,
  server: string,
): { readonly path: string; readonly text: string | undefined } {
  const path = kind === 'tool' ? join('tools', 'index.ts') : server
  const file = join(home, path)
  if (!existsSync(file)) return { path, text: undefined }
  const text = readFileSync(file, 'utf8')
  return { path, text: kind === 'tool' ? withTool(text, name) : withItem(text, kind, name) }
}

function write(home: string, { path, text }: WrittenFile): void {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
}
