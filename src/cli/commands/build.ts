import { statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type { Bundle } from '../bundle.ts'
import type { Command } from '../command.ts'
import { FILE_ARGUMENT, fileOf } from '../file-argument.ts'
import { checkNewFile } from '../make-folder.ts'
import { nearestFile, projectFolder, type Surroundings } from '../project-files.ts'
import { readText } from '../read-text.ts'
import { safe } from '../safe-text.ts'
import { shellWord } from '../shell-word.ts'
import { outputFile } from '../write-file.ts'

export const build: Command = {
  name: 'build',
  group: 'Build a server',
  summary: 'build a server into one file',
  details:
    'Writes one file to dist in the folder of the project, dist/server.js for server.ts, which needs only Node. It serves over HTTP if PORT is set (with HOST and HOSTS), and over stdio otherwise, ' +
    'unless the program calls listen() itself. Uses the esbuild of the project.',
  arguments: [FILE_ARGUMENT],
  options: [
    { flags: '--single', summary: 'write one file that contains all packages; this is the default' },
    { flags: '--source-map', summary: 'also write a source map, for node --enable-source-maps' },
    { flags: '-o, --out <file>', summary: 'where to write it (dist and the name of the file)' },
  ],
  examples: [['build', 'builds the server of the project']],
  async run({ words: [word], flags, io, output }) {
    const source = fileOf(word, io, 'build')
    const name = basename(source.path).replace(/\.[cm]?[jt]sx?$/, '')
    const home = projectFolder(source.path, io.env)
    const out = resolve(io.cwd, flags.text('out') ?? join(home, 'dist', `${name}.js`))
    const { bundleProgram, OUT_HINT } = await import('../bundle.ts')
    const placeOf = (path: string): string => outputFile(path, io, home)
    checkNewFile(out, OUT_HINT)
    placeOf(out)
    output.status('building …')
    const built = await bundleProgram(source, { out, hasMap: flags.is('source-map'), placeOf })
    output.status('')
    if (!isModule(out, io))
      output.note(
        `${safe(relative(io.cwd, out))} is a module, and no package.json beside or above it says "type": "module". If Node complains, name it .mjs with --out, or: npm pkg set type=module`,
      )
    const { size } = statSync(out)
    const file = relative(io.cwd, out)
    const { bold, cyan } = output.colors
    await output.data({ file: out, bytes: size, external: built.external }, () =>
      [
        `Built ${bold(file)}, ${Math.round(size / 1000)} kB. Run it: ${cyan(runLine(file, built))}${built.isClient ? ', with the arguments that it takes' : ''}`,
        ...besideIt(built),
      ].join('\n'),
    )
  },
}

/** Whether Node knows that a built file is a module. */
function isModule(out: string, { env }: Surroundings): boolean {
  if (out.endsWith('.mjs')) return true
  const manifest = nearestFile('package.json', { cwd: dirname(out), env })
  try {
    return JSON.parse((manifest && readText(manifest)) ?? '{}').type === 'module'
  } catch {
    return true
  }
}

/** The command that starts a built file. */
function runLine(file: string, { isClient, listens }: Bundle): string {
  return `${isClient || listens ? '' : 'PORT=3000 '}node ${shellWord(file)}`
}

/** The packages that a built file needs. */
function besideIt({ external, forOldNode }: Bundle): readonly string[] {
  const always = external.filter((name) => !forOldNode.includes(name))
  return [
    ...(always.length > 0 ? [`Install beside it: ${always.join(', ')}`] : []),
    ...(forOldNode.length > 0 ? [`Install beside it for Node before 22.13: ${forOldNode.join(', ')}`] : []),
  ]
}
