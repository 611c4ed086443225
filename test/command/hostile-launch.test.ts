import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { spawnLine, type LineOptions, type Outcome } from './line.ts'
import { plainServer, shownIn } from './plain-server.ts'

let folder = ''
let server = ''

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'pierhead-launch-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  server = plainServer(folder)
})

const run = (args: readonly string[], env: LineOptions['env'] = {}): Promise<Outcome> =>
  spawnLine(args, { cwd: folder, env: { HOME: folder, ...env } })

/** Names a server in the configuration of the project. */
function configure(entry: object): void {
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { evil: entry } }))
}

/** A program that leaves a trace, in the way of one that has this name. */
function trap(path: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), `#!/bin/sh\ntouch '${join(folder, 'PWNED')}'\nexit 1\n`)
  chmodSync(join(folder, path), 0o755)
}

describe('the program to launch', () => {
  it.each([
    ['a space', 'node plain-server.mjs'],
    [';', 'node;touch PWNED'],
    ['$()', '$(touch PWNED)'],
    ['backticks', '`touch PWNED`'],
    ['a newline', 'node\ntouch PWNED'],
    ['a pipe', 'node|touch PWNED'],
    ['a leading dash', '-c'],
    ['an option of Node', '--eval=1'],
  ])('is not run by a shell if its name has %s [P.command-launch]', async (_, command) => {
    configure({ command })
    for (const words of [['evil'], ['--', command]]) {
      const { code, stderr } = await run(['list', ...words])
      expect(code).toBe(4)
      expect(stderr).toContain('cannot connect to the command')
    }
    expect(existsSync(join(folder, 'PWNED'))).toBe(false)
  })

  it('gets its arguments literally [P.command-launch]', async () => {
    const args = [
      '; touch PWNED',
      '$(touch PWNED)',
      '`touch PWNED`',
      'a\ntouch PWNED',
      '| touch PWNED',
      '-rf',
      '',
      '"',
    ]
    configure({ command: process.execPath, args: [server, ...args] })
    expect(shownIn(await run(['call', 'evil', 'show'])).argv).toEqual(args)
    expect(shownIn(await run(['call', 'show', '--', process.execPath, server, ...args])).argv).toEqual(args)
    expect(existsSync(join(folder, 'PWNED'))).toBe(false)
  })

  it('is the one at a relative path, if that is what the user wrote [P.command-launch]', async () => {
    const shown = shownIn(await run(['call', 'show', '--', `./${basename(server)}`, 'x']))
    expect(shown).toMatchObject({ argv: ['x'], cwd: folder })
    const missing = await run(['list', '--', './no-such-program'])
    expect(missing.code).toBe(4)
    expect(missing.stderr).toContain('does not exist')
  })

  it.each(['.', '', 'bin', './bin'])(
    'is never one of the current folder, although PATH begins with "%s" [P.command-launch]',
    async (first) => {
      trap('node')
      trap('bin/node')
      const PATH = [first, dirname(process.execPath), process.env['PATH']].join(delimiter)
      const called = await run(['call', 'show', '--', 'node', server], { PATH })
      expect(shownIn(called).cwd).toBe(folder)
      const checked = await run(['doctor', '--', 'node', server], { PATH })
      expect(checked.stdout).toContain(`node is ${dirname(process.execPath)}`)
      expect(existsSync(join(folder, 'PWNED'))).toBe(false)
    },
  )

  it('is not found by a relative PATH alone [P.command-launch]', async () => {
    trap('tool-server')
    const PATH = `.${delimiter}${process.env['PATH']}`
    const { code, stderr } = await run(['list', '--', 'tool-server'], { PATH })
    expect(code).toBe(4)
    expect(stderr).toContain('was not found in PATH')
    expect(existsSync(join(folder, 'PWNED'))).toBe(false)
  })

  it('does not get variables that load code, wherever they come from [P.command-launch]', async () => {
    const library = join(folder, 'no-such-library.so')
    writeFileSync(
      join(folder, 'evil.cjs'),
      `require('node:fs').writeFileSync('${join(folder, 'PWNED')}', '')`,
    )
    const evil = {
      NODE_OPTIONS: `--require ${join(folder, 'evil.cjs')}`,
      LD_PRELOAD: library,
      LD_LIBRARY_PATH: folder,
    }
    const program = ['--', process.execPath, server]
    const own = { NODE_OPTIONS: '--no-warnings', LD_LIBRARY_PATH: folder, ANOTHER_SECRET: 'hush' }
    const inherited = shownIn(await run(['call', 'show', ...program], own))
    const named = Object.entries(evil).flatMap(([name, value]) => ['--env', `${name}=${value}`])
    const given = shownIn(await run(['call', 'show', ...named, '--env', 'A=1', ...program]))
    configure({ command: process.execPath, args: [server], env: { ...evil, A: '1' } })
    const configured = shownIn(await run(['call', 'evil', 'show']))
    for (const { env } of [inherited, given, configured]) {
      for (const name of [...Object.keys(evil), 'ANOTHER_SECRET']) expect(env).not.toHaveProperty(name)
    }
    for (const { env } of [given, configured]) expect(env).toHaveProperty('A', '1')
    expect(existsSync(join(folder, 'PWNED'))).toBe(false)
  })
})
