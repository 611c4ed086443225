import { writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { nearest } from '../../base/nearest.ts'
import { portIn } from '../address-problem.ts'
import type { Command } from '../command.ts'
import { Failure, wrongUsage } from '../failure.ts'
import { runProgram } from '../run-program.ts'
import { safe } from '../safe-text.ts'
import { shellWord } from '../shell-word.ts'
import {
  checkFolder,
  copyTemplate,
  ownManifest,
  ownSpecifier,
  TEMPLATES,
  type TemplateName,
} from '../scaffold.ts'
import { isWithin } from '../trust.ts'
import { checkLinks } from '../write-file.ts'

/** The packages that every project needs while it is developed. Their versions are those that this package was tested with. */
const DEV_DEPENDENCIES = ['@types/node', 'esbuild', 'typescript']

export const create: Command = {
  name: 'create',
  group: 'Build a server',
  summary: 'create a project that runs at once',
  details: `The templates are ${Object.entries(TEMPLATES)
    .map(([name, { about }]) => `${name} (${about})`)
    .join(', ')}.`,
  arguments: [{ name: 'folder', summary: 'such as my-server' }],
  options: [
    { flags: '--template <name>', summary: 'what to begin with (minimal)', values: Object.keys(TEMPLATES) },
    { flags: '--no-install', summary: 'do not run npm install' },
  ],
  examples: [
    ['create my-server', 'creates a server with one tool'],
    ['create films --template tasks', 'creates a server with long-running work'],
  ],
  async run({ words: [word = ''], flags, io, output }) {
    const template = templateOf(flags.text('template') ?? 'minimal')
    const folder = resolve(io.cwd, word)
    if (isWithin(io.cwd, folder)) checkLinks(folder, io.cwd, io.env)
    const name = checkFolder(folder)
    copyTemplate(template, folder, name)
    writeFileSync(
      join(folder, 'package.json'),
      `${JSON.stringify(manifestOf(name, template, folder), undefined, 2)}\n`,
    )
    const installs = flags.choice('install') !== false
    if (installs) {
      output.status('installing packages …')
      // npm asks the registry again about packages it already has, which takes as long as all the rest.
      const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
      const { code, text } = await runProgram('npm', args, { cwd: folder, signal: io.signal })
      output.status('')
      if (code !== 0)
        throw new Failure(`the project is in ${word}, but npm install failed:\n${safe(text.trim())}`, {
          hint: `Run it again: cd ${shellWord(word)} && npm install`,
        })
    }
    const next = [
      `cd ${shellWord(shownFolder(word, relative(io.cwd, folder)))}`,
      ...nextOf(template, installs, io.env),
    ]
    await output.data({ name, template, folder, next }, () =>
      [
        `Created ${output.colors.bold(name)}${installs ? '' : ', without its packages'}. Next:`,
        '',
        ...next.map((one) => `  ${output.colors.cyan(one)}`),
        ...(next.includes(SERVES) ? ['', 'The last one is for a second terminal, in the same folder.'] : []),
      ].join('\n'),
    )
  },
}

function templateOf(word: string): TemplateName {
  if (Object.hasOwn(TEMPLATES, word)) return word as TemplateName
  const similar = nearest(word, Object.keys(TEMPLATES))
  throw wrongUsage(
    `there is no template "${word}"${similar === undefined ? '' : `; did you mean "${similar}"?`}`,
    `The templates are ${Object.keys(TEMPLATES).join(', ')}.`,
  )
}

/** The command that serves a project until it is interrupted. */
const SERVES = 'npm run dev'

/** The commands to try, after `cd`. `dev` heeds PORT too. */
function nextOf(
  template: TemplateName,
  isInstalled: boolean,
  { PORT }: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const port = PORT === undefined ? 3000 : portIn(PORT)
  const url = `http://127.0.0.1:${typeof port === 'number' && port > 0 ? port : 3000}/mcp`
  const tries = TEMPLATES[template].tries.map((one) => one.replace('{url}', url))
  return isInstalled ? tries : ['npm install', ...tries]
}

/** A folder as a person would name it. */
function shownFolder(word: string, path: string): string {
  return path.startsWith('..') ? word : path || '.'
}

function manifestOf(name: string, template: TemplateName, folder: string): object {
  const { devDependencies = {} } = ownManifest()
  const versions = (names: readonly string[]): object =>
    Object.fromEntries(names.map((one) => [one, `^${devDependencies[one] ?? '0'}`]))
  const { program, needs, server, start = `pierhead run ${program}` } = TEMPLATES[template]
  const isServer = server !== undefined
  return {
    name,
    version: '1.0.0',
    private: true,
    type: 'module',
    ...(isServer && { pierhead: { server } }),
    scripts: {
      // Logs of CI are for people, though they are no terminal.
      ...(isServer && { dev: `pierhead dev --no-json ${program}` }),
      start: isServer ? start : `node --import pierhead/typescript ${program}`,
      test: `node --import pierhead/typescript --test test/*.test.ts${isServer ? ' && pierhead test --no-json' : ''}`,
      check: 'tsc',
      build: `pierhead build --no-json ${program}`,
    },
    dependencies: { pierhead: ownSpecifier(folder), ...versions(needs) },
    devDependencies: versions(DEV_DEPENDENCIES),
    engines: { node: '>=20.19' },
  }
}
