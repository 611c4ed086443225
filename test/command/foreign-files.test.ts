import {
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { build, isStale } from '../../tools/build.ts'
import { line, spawnLine, type Outcome } from './line.ts'
import { linkPackages } from './program-folder.ts'

/** The number of another user. */
const OTHER = 12_345

let [folder, cwd] = ['', '']

beforeAll(async () => {
  // Programs are built with the package.
  if (isStale()) await build()
}, 300_000)

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'pierhead-foreign-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cwd = join(folder, 'shared')
  mkdirSync(cwd)
  mkdirSync(join(folder, 'home'))
})

/** Writes files below the folder of the test. */
function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

/** Gives a file, or a folder with all that it has, to the other user. Links are given away, and not followed. */
function giveAll(name: string): void {
  const path = join(folder, name)
  lchownSync(path, OTHER, OTHER)
  if (!lstatSync(path).isDirectory()) return
  for (const one of readdirSync(path)) giveAll(join(name, one))
}

function env(more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return { HOME: join(folder, 'home'), ...more }
}

function run(args: readonly string[], more?: Readonly<Record<string, string>>): Promise<Outcome> {
  return line(args, { cwd, env: env(more) })
}

/** What shows that a program ran. */
const TRACE = `import { writeFileSync } from 'node:fs'
writeFileSync(new URL('ran', import.meta.url), '')
`
const CONFIG = JSON.stringify({
  mcpServers: { weather: { command: process.execPath, args: ['${workspaceFolder}/evil.mjs'] } },
})

// Only the administrator can make files of other users.
describe.runIf(process.getuid?.() === 0)('a folder of another user', () => {
  it.each([
    ['mcp.json', ['list', 'weather']],
    ['.cursor/mcp.json', ['list', 'weather']],
    ['.mcp.json', ['call', 'weather', 't']],
    ['.vscode/mcp.json', ['doctor', 'weather']],
    ['mcp.json', ['install', 'weather', '--client', 'gemini', '--print']],
  ] as const)('names no servers in %s: %s', async (name, args) => {
    write({ [`shared/${name}`]: CONFIG, 'shared/evil.mjs': TRACE })
    giveAll('shared')
    const { code, stderr } = await run(args)
    expect(code).toBe(2)
    expect(stderr).toContain(
      `${join(cwd, name)} was not read, because ${cwd} belongs to another user (uid ${OTHER})`,
    )
    expect(stderr).toContain(`PIERHEAD_TRUST=${cwd}`)
    expect(existsSync(join(cwd, 'ran'))).toBe(false)
  })

  it('is trusted if the user says so, or became the administrator with sudo', async () => {
    write({ 'shared/mcp.json': CONFIG, 'shared/evil.mjs': TRACE })
    giveAll('shared')
    const ways = [
      { PIERHEAD_TRUST: `/nowhere:${cwd}` },
      { PIERHEAD_TRUST: folder },
      { SUDO_UID: String(OTHER) },
    ]
    for (const more of ways) {
      expect((await run(['list', 'weather'], more)).code).toBe(4)
      expect(existsSync(join(cwd, 'ran'))).toBe(true)
      rmSync(join(cwd, 'ran'))
    }
    for (const more of [
      { PIERHEAD_TRUST: 'shared' },
      { PIERHEAD_TRUST: '.' },
      { PIERHEAD_TRUST: `${cwd}-not` },
    ])
      expect((await run(['list', 'weather'], more)).code).toBe(2)
    expect(existsSync(join(cwd, 'ran'))).toBe(false)
  })

  it('has no server, and none that a file of the user names', async () => {
    write({ 'shared/package.json': '{"pierhead":{"server":"evil.mjs"}}', 'shared/evil.mjs': TRACE })
    giveAll('shared')
    // Links of files of the user can be made by anybody.
    chownSync(join(cwd, 'package.json'), 0, 0)
    for (const args of [['list'], ['run'], ['dev'], ['build'], ['add', 'tool', 'x']]) {
      const { code, stderr } = await run(args)
      expect(code).toBe(2)
      expect(stderr).toContain(`because ${cwd} belongs to another user (uid ${OTHER})`)
    }
    const { stdout } = await run(['doctor'])
    expect(stdout).toContain(`because ${cwd} belongs to another user`)
    expect(existsSync(join(cwd, 'ran'))).toBe(false)
  })

  it('brings no packages for stores', async () => {
    write({
      'shared/node_modules/pierhead/package.json':
        '{"name":"pierhead","type":"module","exports":{".":"./a.js","./stores":"./a.js"}}',
      'shared/node_modules/pierhead/a.js': TRACE,
      'shared/x.db': '',
    })
    giveAll('shared')
    await spawnLine(['tasks', 'list', '--store', 'sqlite:x.db', '--name', 'x'], { cwd, env: env() })
    expect(existsSync(join(cwd, 'node_modules/pierhead/ran'))).toBe(false)
  })

  it('brings no packages to a program of the user', async () => {
    write({
      'shared/node_modules/esbuild/package.json': '{"name":"esbuild","type":"module","exports":"./a.js"}',
      'shared/node_modules/esbuild/a.js': TRACE,
      'shared/own/server.ts':
        "import { createServer } from 'pierhead'\nexport default createServer({ name: 'x', version: '1.0.0' })\n",
    })
    giveAll('shared')
    chownSync(join(cwd, 'own'), 0, 0)
    chownSync(join(cwd, 'own/server.ts'), 0, 0)
    const { code, stderr } = await spawnLine(['build', 'own/server.ts'], { cwd, env: env() })
    expect(code).toBe(1)
    expect(stderr).toContain('node_modules/esbuild/a.js was not used, because')
    expect(stderr).toContain(`belongs to another user (uid ${OTHER})`)
    expect(existsSync(join(cwd, 'node_modules/esbuild/ran'))).toBe(false)
  })

  it('has the packages of a program that the user names there', async () => {
    const home = join(folder, 'shared')
    write({
      'shared/package.json': '{"type":"module"}',
      'shared/server.ts':
        "import { createServer } from 'pierhead'\nexport default createServer({ name: 'x', version: '1.0.0' })\n",
    })
    linkPackages(home)
    giveAll('shared')
    expect(await spawnLine(['list', 'server.ts'], { cwd, env: env() })).toMatchObject({ code: 0 })
    expect(await spawnLine(['build', 'server.ts'], { cwd, env: env() })).toMatchObject({ code: 0 })
  })
})

describe.runIf(process.getuid?.() === 0)('links of another user', () => {
  it('are not followed to a configuration', async () => {
    write({
      'other/mcp.json': CONFIG.replace('${workspaceFolder}', join(folder, 'other')),
      'other/evil.mjs': TRACE,
    })
    symlinkSync('../other', join(cwd, '.cursor'))
    lchownSync(join(cwd, '.cursor'), OTHER, OTHER)
    const mine = await run(['list', 'weather'])
    expect(mine.code).toBe(2)
    expect(mine.stderr).toContain(`because ${join(cwd, '.cursor')} belongs to another user`)
    // A link of the user to a folder of somebody else is as bad, and so is one more link on its way.
    lchownSync(join(cwd, '.cursor'), 0, 0)
    chownSync(join(folder, 'other'), OTHER, OTHER)
    expect((await run(['list', 'weather'])).stderr).toContain(
      `because ${join(folder, 'other')} belongs to another user`,
    )
    chownSync(join(folder, 'other'), 0, 0)
    symlinkSync('other', join(folder, 'between'))
    rmSync(join(cwd, '.cursor'))
    symlinkSync('../between', join(cwd, '.cursor'))
    lchownSync(join(folder, 'between'), OTHER, OTHER)
    expect((await run(['list', 'weather'])).stderr).toContain(
      `because ${join(folder, 'between')} belongs to another user`,
    )
    expect(existsSync(join(folder, 'other/ran'))).toBe(false)
    lchownSync(join(folder, 'between'), 0, 0)
    expect((await run(['list', 'weather'])).code).toBe(4)
  })

  it('and a .git of another user make no larger project', async () => {
    write({ 'mcp.json': CONFIG, 'evil.mjs': TRACE, '.git/HEAD': '' })
    giveAll('.git')
    expect((await run(['list', 'weather'])).code).toBe(2)
    expect(existsSync(join(folder, 'ran'))).toBe(false)
    chownSync(join(folder, '.git'), 0, 0)
    expect((await run(['list', 'weather'])).code).toBe(4)
    expect(existsSync(join(folder, 'ran'))).toBe(true)
  })

  it('are not written by install', async () => {
    write({ 'shared/real/a.txt': '', 'home/a.txt': '' })
    symlinkSync('real', join(cwd, '.cursor'))
    lchownSync(join(cwd, '.cursor'), OTHER, OTHER)
    const project = await run(['install', 'https://x.example/mcp', '--client', 'cursor', '--yes'])
    expect(project.code).not.toBe(0)
    expect(project.stderr).toContain(`${join(cwd, '.cursor')} belongs to another user`)
    expect(readdirSync(join(cwd, 'real'))).toEqual(['a.txt'])
    write({ 'other/a.txt': '' })
    symlinkSync('../other', join(folder, 'home/.cursor'))
    giveAll('other')
    const global = await run(['install', 'https://x.example/mcp', '--client', 'cursor', '--yes', '--global'])
    expect(global.code).not.toBe(0)
    expect(global.stderr).toContain(`${join(folder, 'other')} belongs to another user`)
    expect(readdirSync(join(folder, 'other'))).toEqual(['a.txt'])
    // A folder of settings may be elsewhere if it belongs to the user.
    chownSync(join(folder, 'other'), 0, 0)
    expect(
      await run(['install', 'https://x.example/mcp', '--client', 'cursor', '--yes', '--global']),
    ).toMatchObject({
      code: 0,
    })
    expect(readFileSync(join(folder, 'other/mcp.json'), 'utf8')).toContain('x.example')
  })

  it('are not written by create, and hold no logins', async () => {
    write({ 'other/a.txt': '' })
    giveAll('other')
    symlinkSync('../other', join(cwd, 'link'))
    const created = await run(['create', 'link/new', '--no-install'])
    expect(created.code).not.toBe(0)
    expect(created.stderr).toContain(`${join(folder, 'other')} belongs to another user`)
    mkdirSync(join(folder, 'home/.config'))
    symlinkSync('../../other', join(folder, 'home/.config/pierhead'))
    const status = await run(['auth', 'status'])
    expect(status.code).not.toBe(0)
    expect(status.stderr).toContain(`${join(folder, 'other')} belongs to another user`)
    expect(readdirSync(join(folder, 'other'))).toEqual(['a.txt'])
  })

  it('are not written by add and by test --update', async () => {
    write({
      'shared/package.json': '{"type":"module","pierhead":{"server":"server.mjs"}}',
      'shared/server.mjs':
        "import { createServer } from 'pierhead'\nconst app = createServer({ name: 'x', version: '1.0.0' })\napp.tool('t', { description: 'x' }, () => 'new')\nexport default app\n",
      'shared/data/t.json': '[{"input":{},"output":"old"}]',
      'shared/real/a.txt': '',
    })
    linkPackages(cwd)
    symlinkSync('data', join(cwd, 'fixtures'))
    symlinkSync('real', join(cwd, 'tools'))
    for (const name of ['fixtures', 'tools']) lchownSync(join(cwd, name), OTHER, OTHER)
    for (const args of [
      ['test', '--update', '--fixtures', 'fixtures'],
      ['add', 'tool', 'two'],
    ]) {
      const { code, stderr } = await spawnLine(args, { cwd, env: env() })
      expect(code).toBe(2)
      expect(stderr).toContain('belongs to another user')
    }
    expect(readFileSync(join(cwd, 'data/t.json'), 'utf8')).toContain('old')
    expect(readdirSync(join(cwd, 'real'))).toEqual(['a.txt'])
  })
})
