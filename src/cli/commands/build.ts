import { statSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import type { Command } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { sourceFile } from '../source-file.ts'
import { projectServer } from '../target.ts'

export const build: Command = {
  name: 'build',
  group: 'Build a server',
  summary: 'build a server into one file',
  details:
    'Writes dist/server.js, which needs only Node. It serves over HTTP if PORT is set (with HOST and HOSTS), and over stdio otherwise, ' +
    'unless the program calls listen() itself. Uses the esbuild of the project.',
  arguments: [
    { name: 'file', summary: 'such as server.ts; the server of the project by default', isOptional: true },
  ],
  options: [
    { flags: '--single', summary: 'one file with all packages, which is the default' },
    { flags: '-o, --out <file>', summary: 'where to write it (dist/server.js)' },
  ],
  examples: [['build --single', 'builds the server of the project']],
  async run({ words: [word], flags, io, output }) {
    const own = projectServer(io.cwd)
    const named = word ?? own?.file
    if (named === undefined) throw wrongUsage('there is no file to build', 'Write pierhead build server.ts.')
    const source = sourceFile(named, io.cwd)
    const name = basename(source.path).replace(/\.[cm]?[jt]sx?$/, '')
    const out = resolve(io.cwd, flags.text('out') ?? join('dist', `${name}.js`))
    const { bundleProgram } = await import('../bundle.ts')
    output.status('building …')
    const { external } = await bundleProgram(source, out)
    output.status('')
    const { size } = statSync(out)
    const file = relative(io.cwd, out)
    await output.data({ file, bytes: size, external }, () =>
      [
        `Built ${output.colors.bold(file)}, ${Math.round(size / 1000)} kB. Run it: ${output.colors.cyan(`PORT=3000 node ${file}`)}`,
        ...(external.length > 0 ? [`Install beside it: ${external.join(', ')}`] : []),
      ].join('\n'),
    )
  },
}
